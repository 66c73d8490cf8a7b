//! One child process, which can be paused, resumed, killed and restarted.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;

use crate::child_setup;
use crate::clock::Clock;
use crate::launch::Launch;
use crate::log::Log;
use crate::process_tree::{ended, kill, pause, resume, send};
use crate::ready::Ready;
use crate::service_location::ServiceLocation;
use crate::spawner;
use crate::unsynced::{Loss, Unsynced};

/// Between two checks; short, because it adds to every start.
const POLL: Duration = Duration::from_millis(5);
/// How long a program that must not be killed may take to end.
const END_LIMIT: Duration = Duration::from_secs(2);

/// A child process that can be paused, killed and started again at the same address. It is killed on drop, and with this
/// process however that ends. Every method may be called from any thread.
pub struct Service {
    name: String,
    launch: Launch,
    ready: Ready,
    log: PathBuf,
    child: Mutex<Child>,
}

impl Service {
    /// Starts the program; its log is `<name>.log` in the folder. It is up only after [`Service::wait_ready`].
    ///
    /// # Errors
    ///
    /// When the log cannot be written or the program cannot be run.
    pub fn start(name: impl Into<String>, launch: Launch, ready: Ready, folder: &Path) -> Result<Service> {
        let name = name.into();
        let log = folder.join(format!("{name}.log"));
        let child = Mutex::new(spawn(&name, &launch, &log)?);
        Ok(Service {
            name,
            launch,
            ready,
            log,
            child,
        })
    }

    /// Returns its name, such as `redis` or `app-1`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns where it listens; none for a program that serves nobody.
    pub(crate) fn location(&self) -> Option<ServiceLocation> {
        self.ready.location()
    }

    /// Returns its clock; none where it reads that of the machine.
    pub fn clock(&self) -> Option<&Clock> {
        self.launch.own_clock()
    }

    /// Returns the journal of what it does not sync; none where it can keep none.
    pub fn unsynced(&self) -> Option<&Unsynced> {
        self.launch.own_unsynced()
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
            if let Some(success) = ended(&mut self.child()) {
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
        pause(&*self.living()?).with_context(|| format!("could not pause {}", self.name))
    }

    /// Continues it after a pause (SIGCONT).
    ///
    /// # Errors
    ///
    /// When it has ended.
    pub fn resume(&self) -> Result<()> {
        resume(&*self.living()?).with_context(|| format!("could not resume {}", self.name))
    }

    /// Kills it with every process that it made, paused or not, as a crash would (SIGKILL); returns once all are gone. Killing it
    /// twice is no error.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    pub fn kill(&self) -> Result<()> {
        kill(&mut self.child()).with_context(|| format!("could not kill {}", self.name))
    }

    /// Runs the same command at the same address, after killing what still runs. Follow it with [`Service::wait_ready`].
    ///
    /// # Errors
    ///
    /// When it cannot be killed or run.
    pub fn restart(&self) -> Result<()> {
        let mut child = self.child();
        kill(&mut child).with_context(|| format!("could not kill {}", self.name))?;
        *child = spawn(&self.name, &self.launch, &self.log)?;
        Ok(())
    }

    /// Kills it and adopts the process of another service, which has to serve at this one's address by now. A restart runs this
    /// one's command.
    ///
    /// # Errors
    ///
    /// When it cannot be killed.
    pub(crate) fn adopt(&self, other: Service) -> Result<()> {
        let mut child = self.child();
        kill(&mut child).with_context(|| format!("could not kill {}", self.name))?;
        // The other service is dropped with a process that has ended.
        std::mem::swap(&mut *child, &mut *other.child());
        Ok(())
    }

    /// Asks it to end (SIGTERM) and kills it if it has not ended within the limit. Returns whether it ended by itself, without an
    /// error.
    ///
    /// # Errors
    ///
    /// When the system refuses.
    pub fn stop(&self, limit: Duration) -> Result<bool> {
        self.end(Signal::TERM, limit)
    }

    fn end(&self, signal: Signal, limit: Duration) -> Result<bool> {
        let mut child = self.child();
        let begun = Instant::now();
        if ended(&mut child).is_none() {
            send(&child, signal)
                // A paused program handles it only after SIGCONT.
                .and_then(|()| resume(&child))
                .with_context(|| format!("could not stop {}", self.name))?;
        }
        while ended(&mut child).is_none() && begun.elapsed() < limit {
            thread::sleep(POLL);
        }
        let has_ended_well = ended(&mut child) == Some(true);
        kill(&mut child).with_context(|| format!("could not kill {}", self.name))?;
        Ok(has_ended_well)
    }

    /// Whether it has ended.
    pub fn has_exited(&self) -> bool {
        ended(&mut self.child()).is_some()
    }

    /// Returns its process id, or that of the last run if it has ended.
    pub fn pid(&self) -> u32 {
        self.child().id()
    }

    /// Returns its output so far, over all its runs.
    pub fn log(&self) -> Log {
        Log::read(&self.log)
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        // A panic elsewhere leaves the handle of the process as good as before.
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lock is held from the check to a signal, so that no other process with a reused id is hit.
    fn living(&self) -> Result<MutexGuard<'_, Child>> {
        let mut child = self.child();
        if ended(&mut child).is_some() {
            bail!("{} has ended; restart it first", self.name);
        }
        Ok(child)
    }

    fn failure(&self, what: &str) -> anyhow::Error {
        let log = self.log();
        let said = if log.tail.is_empty() { "(nothing)" } else { &log.tail };
        anyhow::anyhow!("{} {what}; the end of its log:\n{said}", self.name)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // Its data is thrown away too, so there is nothing that a clean end would save.
        let _ = match self.launch.end_signal() {
            Some(signal) => self.end(signal, END_LIMIT).map(drop),
            None => self.kill(),
        };
    }
}

fn spawn(name: &str, launch: &Launch, log: &Path) -> Result<Child> {
    let file = File::options().create(true).append(true).open(log);
    let file = file.with_context(|| format!("could not open the log {}", log.display()))?;
    let command = launch
        .command(file)
        .with_context(|| format!("could not prepare {name}"))?;
    let spawned = spawner::spawn(command).map_err(child_setup::explained);
    spawned.with_context(|| format!("could not run `{}` as {name}", launch.path().display()))
}
