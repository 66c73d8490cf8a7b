//! A process, what its preloaded libraries are told, and a relay behind the service for faults.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use anyhow::{Context, Result, bail};

use super::Faults;
use crate::clock::Clock;
use crate::disk::Disk;
use crate::relay::Change;
use crate::unsynced::Unsynced;

/// The process of a server that runs in a container.
pub(crate) struct RemoteProcess {
    faults: Faults,
    server: String,
    number: AtomicU32,
    libraries: Libraries,
    /// Whether it was killed or stopped, and not started since.
    is_killed: AtomicBool,
    /// Whether it stays ended when it ends by itself.
    stays_ended: AtomicBool,
}

/// What a process can do by a preloaded library.
#[derive(Default)]
pub(crate) struct Libraries {
    /// Have a clock of its own.
    pub(crate) clock: Option<Clock>,
    /// Have a full disk.
    pub(crate) disk: Option<Disk>,
    /// Keep a journal of what it does not sync.
    pub(crate) unsynced: Option<Unsynced>,
}

impl RemoteProcess {
    /// Finds the process of that server.
    ///
    /// # Errors
    ///
    /// When the service does not know it, or it does not run.
    pub(crate) fn of(faults: &Faults, server: &str, libraries: Libraries) -> Result<RemoteProcess> {
        let process = RemoteProcess {
            faults: faults.clone(),
            server: server.to_owned(),
            number: AtomicU32::default(),
            libraries,
            is_killed: AtomicBool::new(false),
            stays_ended: AtomicBool::new(false),
        };
        process.start()?;
        Ok(process)
    }

    /// Returns its number in its container, or that of the last run if it was killed.
    pub(crate) fn number(&self) -> u32 {
        self.number.load(Ordering::SeqCst)
    }

    /// Returns its clock; none where it reads that of the machine.
    pub(crate) fn clock(&self) -> Option<&Clock> {
        self.libraries.clock.as_ref()
    }

    /// Returns its disk; none where it cannot be full.
    pub(crate) fn disk(&self) -> Option<&Disk> {
        self.libraries.disk.as_ref()
    }

    /// Returns the journal of what it does not sync; none where it can keep none.
    pub(crate) fn unsynced(&self) -> Option<&Unsynced> {
        self.libraries.unsynced.as_ref()
    }

    /// Whether it was killed or stopped, and not started since.
    fn is_killed(&self) -> bool {
        self.is_killed.load(Ordering::SeqCst)
    }

    /// Whether it has ended. A server that ends by itself is started again by its engine, unless it stays ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.is_killed() || self.stays_ended.load(Ordering::SeqCst) && self.ask("runs").is_ok_and(|runs| runs == 0)
    }

    /// Lets it stay ended when it ends by itself, until it is started.
    pub(crate) fn keep_ended(&self) -> Result<()> {
        self.ask("keep-ended")?;
        self.stays_ended.store(true, Ordering::SeqCst);
        Ok(())
    }

    /// Kills it with every process that it made. Killing it twice is no error.
    pub(crate) fn kill(&self) -> Result<()> {
        self.ask("kill")?;
        self.is_killed.store(true, Ordering::SeqCst);
        Ok(())
    }

    /// Starts it unless it runs, and lets it go on if it was paused.
    pub(crate) fn start(&self) -> Result<()> {
        let number = self.ask("start")?;
        self.number.store(number, Ordering::SeqCst);
        self.is_killed.store(false, Ordering::SeqCst);
        Ok(())
    }

    /// Asks it to end, and returns once it has. Returns whether it ended without an error.
    pub(crate) fn stop(&self) -> Result<bool> {
        let status = self.ask("stop")?;
        self.is_killed.store(true, Ordering::SeqCst);
        Ok(status == 0)
    }

    /// Pauses it with every process that it made.
    pub(crate) fn pause(&self) -> Result<()> {
        self.ask("pause").map(drop)
    }

    /// Lets the process of another server take the place of this one, and this one that of the other.
    pub(crate) fn swap(&self, other: &RemoteProcess) -> Result<()> {
        self.faults.ask(&format!("swap {} {}", self.server, other.server))?;
        let was_killed = self.is_killed();
        self.is_killed.store(other.is_killed(), Ordering::SeqCst);
        other.is_killed.store(was_killed, Ordering::SeqCst);
        let number = self.number.swap(other.number(), Ordering::SeqCst);
        other.number.store(number, Ordering::SeqCst);
        Ok(())
    }

    fn ask(&self, command: &str) -> Result<u32> {
        let answer = self.faults.ask(&format!("process {} {command}", self.server));
        let answer = answer.with_context(|| format!("could not {command} {}", self.server))?;
        answer.parse().context("the service for faults names no process")
    }
}

/// The two numbers of a library that is preloaded into a process in a container.
pub(crate) struct RemoteNumbers {
    faults: Faults,
    /// The request for them: `clock` or `disk`.
    what: &'static str,
    server: String,
}

impl RemoteNumbers {
    /// Uses those of a server, or of the instance with that address.
    pub(crate) fn new(faults: &Faults, what: &'static str, server: &str) -> RemoteNumbers {
        let (faults, server) = (faults.clone(), server.to_owned());
        RemoteNumbers { faults, what, server }
    }

    /// Returns the setting.
    pub(crate) fn setting(&self) -> Result<i64> {
        Ok(self.read()?.0)
    }

    /// Returns how often the library acted since the last change.
    pub(crate) fn count(&self) -> Result<u64> {
        Ok(self.read()?.1)
    }

    /// Changes the setting.
    pub(crate) fn set(&self, setting: i64) -> Result<()> {
        let set = self.faults.ask(&format!("{} {} {setting}", self.what, self.server));
        set.map(drop)
            .with_context(|| format!("could not set the {} of {}", self.what, self.server))
    }

    fn read(&self) -> Result<(i64, u64)> {
        let (what, server) = (self.what, &self.server);
        let answer = self.faults.ask(&format!("{what} {server}"));
        let answer = answer.with_context(|| format!("could not read the {what} of {server}"))?;
        let numbers = answer
            .split_once(' ')
            .map(|(setting, count)| (setting.parse(), count.parse()));
        match numbers {
            Some((Ok(setting), Ok(count))) => Ok((setting, count)),
            _ => bail!("the service for faults says nothing of the {what} of {server}"),
        }
    }
}

/// A relay between one instance and one server.
pub(crate) struct RemoteRelay {
    faults: Faults,
    server: String,
    client: IpAddr,
    /// Whether the service has confirmed the last change.
    is_confirmed: AtomicBool,
}

impl RemoteRelay {
    /// Uses the relay before that server, for the connections of this client.
    pub(crate) fn new(faults: &Faults, server: &str, client: IpAddr) -> RemoteRelay {
        RemoteRelay {
            faults: faults.clone(),
            server: server.to_owned(),
            client,
            is_confirmed: AtomicBool::new(false),
        }
    }

    pub(crate) fn change(&self, change: Change) {
        let changed = self
            .faults
            .ask(&format!("relay {} {} {change}", self.server, self.client));
        self.is_confirmed.store(changed.is_ok(), Ordering::SeqCst);
    }

    pub(crate) fn affected(&self) -> u64 {
        if !self.is_confirmed.load(Ordering::SeqCst) {
            return 0;
        }
        let affected = self.faults.ask(&format!("affected {} {}", self.server, self.client));
        affected.ok().and_then(|affected| affected.parse().ok()).unwrap_or(0)
    }
}
