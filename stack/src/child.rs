//! A child process, with the command by which it can be started again.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Child as Process;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::Signal;

use crate::child_setup;
use crate::launch::Launch;
use crate::process_tree::{ended, kill, pause, resume, send};
use crate::spawner;

/// Between two checks.
const POLL: Duration = Duration::from_millis(5);

/// A child process. Every method may be called from any thread.
pub(crate) struct Child {
    name: String,
    pub(crate) launch: Launch,
    pub(crate) log: PathBuf,
    process: Mutex<Process>,
}

impl Child {
    /// Starts the program; its log is `<name>.log` in the folder.
    pub(crate) fn start(name: &str, launch: Launch, folder: &Path) -> Result<Child> {
        let log = folder.join(format!("{name}.log"));
        let process = Mutex::new(spawn(name, &launch, &log)?);
        Ok(Child {
            name: name.to_owned(),
            launch,
            log,
            process,
        })
    }

    /// Whether it ended well, if it has ended.
    pub(crate) fn ended(&self) -> Option<bool> {
        ended(&mut self.process())
    }

    pub(crate) fn pause(&self) -> Result<()> {
        pause(&*self.living()?).with_context(|| format!("could not pause {}", self.name))
    }

    pub(crate) fn resume(&self) -> Result<()> {
        resume(&*self.living()?).with_context(|| format!("could not resume {}", self.name))
    }

    pub(crate) fn kill(&self) -> Result<()> {
        kill(&mut self.process()).with_context(|| format!("could not kill {}", self.name))
    }

    /// Kills it and runs the same command again.
    pub(crate) fn restart(&self) -> Result<()> {
        let mut process = self.process();
        kill(&mut process).with_context(|| format!("could not kill {}", self.name))?;
        *process = spawn(&self.name, &self.launch, &self.log)?;
        Ok(())
    }

    /// Kills it and adopts the process of another child.
    pub(crate) fn adopt(&self, other: &Child) -> Result<()> {
        let mut process = self.process();
        kill(&mut process).with_context(|| format!("could not kill {}", self.name))?;
        // The other child is left with a process that has ended.
        std::mem::swap(&mut *process, &mut *other.process());
        Ok(())
    }

    /// Asks it to end by this signal, and kills it if it has not ended within the limit. Returns whether it ended by itself, without
    /// an error.
    pub(crate) fn end(&self, signal: Signal, limit: Duration) -> Result<bool> {
        let mut process = self.process();
        let begun = Instant::now();
        if ended(&mut process).is_none() {
            send(&process, signal)
                // A paused program handles it only after SIGCONT.
                .and_then(|()| resume(&process))
                .with_context(|| format!("could not stop {}", self.name))?;
        }
        while ended(&mut process).is_none() && begun.elapsed() < limit {
            thread::sleep(POLL);
        }
        let has_ended_well = ended(&mut process) == Some(true);
        kill(&mut process).with_context(|| format!("could not kill {}", self.name))?;
        Ok(has_ended_well)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process().id()
    }

    fn process(&self) -> MutexGuard<'_, Process> {
        // A panic elsewhere leaves the handle of the process as good as before.
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The lock is held from the check to a signal, so that no other process with a reused id is hit.
    fn living(&self) -> Result<MutexGuard<'_, Process>> {
        let mut process = self.process();
        if ended(&mut process).is_some() {
            bail!("{} has ended; restart it first", self.name);
        }
        Ok(process)
    }
}

fn spawn(name: &str, launch: &Launch, log: &Path) -> Result<Process> {
    let file = File::options().create(true).append(true).open(log);
    let file = file.with_context(|| format!("could not open the log {}", log.display()))?;
    let command = launch
        .command(file)
        .with_context(|| format!("could not prepare {name}"))?;
    let spawned = spawner::spawn(command).map_err(child_setup::explained);
    spawned.with_context(|| format!("could not run `{}` as {name}", launch.path().display()))
}
