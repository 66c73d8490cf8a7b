//! How a program is started, kept so that it can be started again.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::child_setup;
use crate::clock::Clock;
use crate::disk::Disk;
use crate::program::Program;
use crate::unsynced::Unsynced;

/// A command line that can be run any number of times. It has no `Debug`: the environment may hold secrets.
#[derive(Clone)]
pub struct Launch {
    path: PathBuf,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    withheld: Vec<OsString>,
    clock: Option<Clock>,
    unsynced: Option<Unsynced>,
    disk: Option<Disk>,
    is_without_root: bool,
    end_signal: Option<Signal>,
}

impl Launch {
    /// Makes a command without arguments.
    pub fn new(path: impl Into<PathBuf>) -> Launch {
        Launch {
            path: path.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            withheld: Vec::new(),
            clock: None,
            unsynced: None,
            disk: None,
            is_without_root: false,
            end_signal: None,
        }
    }

    /// Adds one argument.
    pub fn arg(mut self, argument: impl Into<OsString>) -> Launch {
        self.arguments.push(argument.into());
        self
    }

    /// Adds arguments.
    pub fn args<A: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = A>) -> Launch {
        self.arguments.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Adds a variable to the environment, which is otherwise that of this process.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Launch {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Leaves out a variable of this process.
    pub(crate) fn without_env(mut self, name: impl Into<OsString>) -> Launch {
        self.withheld.push(name.into());
        self
    }

    /// Runs another program of the same package.
    pub(crate) fn program(mut self, path: PathBuf) -> Launch {
        self.path = path;
        self
    }

    /// Lets the process be another user where it would be root: it refuses to run as root.
    pub(crate) fn without_root(mut self) -> Launch {
        self.is_without_root = true;
        self
    }

    /// Ends the process by this signal when nobody needs it any more, instead of killing it.
    pub(crate) fn ends_on(mut self, signal: Signal) -> Launch {
        self.end_signal = Some(signal);
        self
    }

    /// Returns the signal that ends the process, if it should not be killed.
    pub(crate) fn end_signal(&self) -> Option<Signal> {
        self.end_signal
    }

    /// Lets the process read this clock.
    pub(crate) fn clock(mut self, clock: Clock) -> Launch {
        self = self.preload(clock.environment());
        self.clock = Some(clock);
        self
    }

    /// Lets the process write to this disk. It comes before a journal, which passes no call on.
    pub(crate) fn disk(mut self, disk: Option<Disk>) -> Launch {
        let Some(disk) = disk else { return self };
        self = self.preload(disk.environment());
        self.disk = Some(disk);
        self
    }

    /// Lets the process keep this journal of what it does not sync, where one is begun before it starts.
    pub(crate) fn unsynced(mut self, unsynced: Option<Unsynced>) -> Launch {
        let Some(unsynced) = unsynced else { return self };
        self = self.preload(unsynced.environment());
        self.unsynced = Some(unsynced);
        self
    }

    /// Adds variables of a library to preload. Libraries are separated by colons.
    fn preload(mut self, variables: Vec<(&'static str, &Path)>) -> Launch {
        for (name, value) in variables {
            let libraries = self.environment.iter_mut().find(|(known, _)| known == "LD_PRELOAD");
            match libraries {
                Some((_, libraries)) if name == "LD_PRELOAD" => {
                    libraries.push(":");
                    libraries.push(value);
                }
                _ => self = self.env(name, value),
            }
        }
        self
    }

    /// Returns the disk of the process, if it is a [`Disk`].
    pub(crate) fn own_disk(&self) -> Option<&Disk> {
        self.disk.as_ref()
    }

    /// Returns the journal of what the process does not sync, if it can keep one.
    pub(crate) fn own_unsynced(&self) -> Option<&Unsynced> {
        self.unsynced.as_ref()
    }

    /// Returns the clock of the process, if it is a [`Clock`].
    pub(crate) fn own_clock(&self) -> Option<&Clock> {
        self.clock.as_ref()
    }

    /// Returns the binary.
    pub(crate) fn path(&self) -> &PathBuf {
        &self.path
    }

    /// Returns the command; its output goes to the log.
    pub(crate) fn command(&self, log: File) -> io::Result<Command> {
        let mut command = Command::new(&self.path);
        command
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        for name in &self.withheld {
            command.env_remove(name);
        }
        if self.is_without_root {
            child_setup::leave_root(&mut command);
        }
        command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        Ok(command)
    }
}

impl From<&Program> for Launch {
    fn from(program: &Program) -> Launch {
        Launch {
            arguments: program.arguments(),
            environment: program.environment(),
            ..Launch::new(&program.path)
        }
    }
}
