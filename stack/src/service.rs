//! One server, which can be paused, resumed, killed and restarted.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;

use crate::child::Child;
use crate::clock::Clock;
use crate::disk::Disk;
use crate::faults::RemoteProcess;
use crate::launch::Launch;
use crate::log::Log;
use crate::ready::Ready;
use crate::service_location::ServiceLocation;
use crate::unsynced::{Loss, Unsynced};

/// Between two checks; short, because it adds to every start.
const POLL: Duration = Duration::from_millis(5);
/// How long a program that must not be killed may take to end.
const END_LIMIT: Duration = Duration::from_secs(2);

/// A process that can be paused, killed and started again at the same address. A child is killed on drop, and with this process
/// however that ends. Every method may be called from any thread.
pub struct Service {
    name: String,
    ready: Ready,
    runs: Runs,
}

/// Where the process runs.
enum Runs {
    /// As a child of this process.
    Here(Box<Child>),
    /// In a container, behind the service for faults.
    Elsewhere(Box<RemoteProcess>),
}

impl Service {
    /// Starts the program; its log is `<name>.log` in the folder. It is up only after [`Service::wait_ready`].
    ///
    /// # Errors
    ///
    /// When the log cannot be written or the program cannot be run.
    pub fn start(name: impl Into<String>, launch: Launch, ready: Ready, folder: &Path) -> Result<Service> {
        let name = name.into();
        let child = Box::new(Child::start(&name, launch, folder)?);
        let runs = Runs::Here(child);
        Ok(Service { name, ready, runs })
    }

    /// Uses a process that runs elsewhere.
    pub(crate) fn elsewhere(name: impl Into<String>, process: RemoteProcess, ready: Ready) -> Service {
        Service {
            name: name.into(),
            ready,
            runs: Runs::Elsewhere(Box::new(process)),
        }
    }

    /// Whether it runs in a container.
    pub fn is_elsewhere(&self) -> bool {
        matches!(self.runs, Runs::Elsewhere(_))
    }

    /// Returns its name, such as `redis` or `app-1`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns where it listens; none for a program that serves nobody, or that runs elsewhere.
    pub(crate) fn location(&self) -> Option<ServiceLocation> {
        self.ready.location()
    }

    /// Returns the URL of a Redis, for administration.
    ///
    /// # Errors
    ///
    /// When it is no Redis.
    pub(crate) fn redis_url(&self) -> Result<String> {
        let url = self.ready.redis_url();
        url.with_context(|| format!("{} is no Redis", self.name))
    }

    /// Returns its clock; none where it reads that of the machine.
    pub fn clock(&self) -> Option<&Clock> {
        match &self.runs {
            Runs::Here(child) => child.launch.own_clock(),
            Runs::Elsewhere(process) => process.clock(),
        }
    }

    /// Returns its disk; none where it cannot be full.
    pub fn disk(&self) -> Option<&Disk> {
        match &self.runs {
            Runs::Here(child) => child.launch.own_disk(),
            Runs::Elsewhere(process) => process.disk(),
        }
    }

    /// Returns the journal of what it does not sync; none where it can keep none.
    pub fn unsynced(&self) -> Option<&Unsynced> {
        match &self.runs {
            Runs::Here(child) => child.launch.own_unsynced(),
            Runs::Elsewhere(process) => process.unsynced(),
        }
    }

    /// Kills it and runs it again with an empty journal of what it does not sync. Follow it with [`Service::wait_ready`].
    ///
    /// # Errors
    ///
    /// When it can keep no journal, or cannot be killed or run.
    pub fn restart_with_journal(&self) -> Result<()> {
        self.kill()?;
        self.own_unsynced()?.begin()?;
        self.restart()
    }

    /// Kills it and undoes what it did not sync, as a loss of power would. It has to keep a journal, and keeps none after a
    /// restart.
    ///
    /// # Errors
    ///
    /// When it kept no journal, or a file cannot be put back.
    pub fn lose_power(&self) -> Result<Loss> {
        self.kill()?;
        let lost = self.own_unsynced()?.lose();
        lost.with_context(|| format!("could not lose what {} did not sync", self.name))
    }

    fn own_unsynced(&self) -> Result<&Unsynced> {
        let unsynced = self.unsynced();
        unsynced.with_context(|| format!("{} cannot keep a journal of what it does not sync", self.name))
    }

    /// Waits until the program serves.
    ///
    /// # Errors
    ///
    /// When it has ended, or does not serve within the limit; the message holds the end of its log.
    pub fn wait_ready(&self, limit: Duration) -> Result<()> {
        let begun = Instant::now();
        loop {
            let answer = self.ready.check();
            // Checked second: while another process serves a dead child's port, the answer proves nothing.
            if let Some(success) = self.ended() {
                let done = success && matches!(self.ready, Ready::Ended);
                return if done {
                    Ok(())
                } else {
                    Err(self.failure("ended before it was ready"))
                };
            }
            match answer {
                Ok(()) => return Ok(()),
                Err(reason) if begun.elapsed() >= limit => {
                    return Err(self.failure(&format!("was not ready after {limit:?} ({reason:#})")));
                }
                Err(_) => thread::sleep(POLL),
            }
        }
    }

    /// Pauses it with every process that it made (SIGSTOP); returns once all have stopped.
    ///
    /// # Errors
    ///
    /// When it has ended, or hangs in the kernel and does not stop within two seconds.
    pub fn pause(&self) -> Result<()> {
        match &self.runs {
            Runs::Here(child) => child.pause(),
            Runs::Elsewhere(process) => process.pause(),
        }
    }

    /// Continues it after a pause (SIGCONT).
    ///
    /// # Errors
    ///
    /// When it has ended.
    pub fn resume(&self) -> Result<()> {
        match &self.runs {
            Runs::Here(child) => child.resume(),
            Runs::Elsewhere(process) => process.start(),
        }
    }

    /// Kills it with every process that it made, paused or not, as a crash would (SIGKILL); returns once all are gone. Killing it
    /// twice is no error.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    pub fn kill(&self) -> Result<()> {
        match &self.runs {
            Runs::Here(child) => child.kill(),
            Runs::Elsewhere(process) => process.kill(),
        }
    }

    /// Runs the same command at the same address, after killing what still runs. Follow it with [`Service::wait_ready`].
    ///
    /// # Errors
    ///
    /// When it cannot be killed or run.
    pub fn restart(&self) -> Result<()> {
        match &self.runs {
            Runs::Here(child) => child.restart(),
            Runs::Elsewhere(process) => process.kill().and_then(|()| process.start()),
        }
    }

    /// Kills it and adopts the process of another service, which has to serve at this one's address by now. A restart runs this
    /// one's command.
    ///
    /// # Errors
    ///
    /// When it cannot be killed.
    pub(crate) fn adopt(&self, other: Service) -> Result<()> {
        self.child()?.adopt(other.child()?)
    }

    /// Kills it and changes places with another server in a container: from now on that one has its address.
    ///
    /// # Errors
    ///
    /// When one of them was started here, or the service for faults refuses.
    pub(crate) fn change_places(&self, other: &Service) -> Result<()> {
        let (Runs::Elsewhere(own), Runs::Elsewhere(others)) = (&self.runs, &other.runs) else {
            bail!("{} and {} do not both run in containers", self.name, other.name);
        };
        own.kill()?;
        own.swap(others)
    }

    /// Asks it to end (SIGTERM) and kills it if it has not ended within the limit; one that runs elsewhere is not killed. Returns
    /// whether it ended by itself, without an error.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    pub fn stop(&self, limit: Duration) -> Result<bool> {
        match &self.runs {
            Runs::Here(child) => child.end(Signal::TERM, limit),
            Runs::Elsewhere(process) => process.stop(),
        }
    }

    /// Whether it has ended. A store that runs elsewhere has when it was killed or stopped from here.
    pub fn has_exited(&self) -> bool {
        self.ended().is_some()
    }

    /// Returns its process id, or that of the last run if it has ended. One that runs elsewhere has it in its container.
    pub fn pid(&self) -> u32 {
        match &self.runs {
            Runs::Here(child) => child.pid(),
            Runs::Elsewhere(process) => process.number(),
        }
    }

    /// Returns its output so far, over all its runs; nothing of one that runs elsewhere.
    pub fn log(&self) -> Log {
        match &self.runs {
            Runs::Here(child) => Log::read(&child.log),
            Runs::Elsewhere(_) => Log::none(),
        }
    }

    fn ended(&self) -> Option<bool> {
        match &self.runs {
            Runs::Here(child) => child.ended(),
            Runs::Elsewhere(process) => process.has_ended().then_some(false),
        }
    }

    fn child(&self) -> Result<&Child> {
        match &self.runs {
            Runs::Here(child) => Ok(child),
            Runs::Elsewhere(_) => bail!("{} was not started here", self.name),
        }
    }

    fn failure(&self, what: &str) -> anyhow::Error {
        let log = self.log();
        let said = if log.tail.is_empty() { "(nothing)" } else { &log.tail };
        anyhow::anyhow!("{} {what}; the end of its log:\n{said}", self.name)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // The service for faults starts its own servers again.
        let Runs::Here(child) = &self.runs else { return };
        // Its data is thrown away too, so there is nothing that a clean end would save.
        let _ = match child.launch.end_signal() {
            Some(signal) => child.end(signal, END_LIMIT).map(drop),
            None => child.kill(),
        };
    }
}
