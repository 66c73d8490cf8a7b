//! The clock of a process, which can step ahead of all others on this machine, or behind them.
//!
//! A preloaded library answers when the process asks for the time: it adds the number in a file to the real time. libfaketime
//! does the same, but cannot be loaded into a Redis with jemalloc, which asks for the time before libfaketime is set up.
//! `CLOCK_MONOTONIC` stays as it is: no step of a clock changes it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;

use crate::faults::RemoteNumbers;
use crate::preloaded::{Numbers, NumbersFile, library};

/// The library; empty where it cannot be built.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/clock.so"));

/// A clock for one process, or for several in turn.
#[derive(Clone)]
pub struct Clock {
    library: PathBuf,
    /// The nanoseconds that it is ahead, and how often it told the time.
    numbers: Arc<Numbers>,
}

impl Clock {
    /// Makes a correct clock in `folder` under that name; one that exists stays as it is.
    pub(crate) fn new(folder: &Path, name: &str) -> Result<Clock> {
        let own = NumbersFile::create(&folder.join(format!("{name}.clock")))?;
        Ok(Clock {
            library: library(folder, "clock.so", LIBRARY)?,
            numbers: Arc::new(Numbers::Here(own)),
        })
    }

    /// Uses the clock of a process in a container.
    pub(crate) fn elsewhere(clock: RemoteNumbers) -> Clock {
        Clock {
            library: PathBuf::new(),
            numbers: Arc::new(Numbers::Elsewhere(clock)),
        }
    }

    /// Returns the variables that give a child this clock; none on a system where that is not possible.
    pub(crate) fn environment(&self) -> Vec<(&'static str, &Path)> {
        match &*self.numbers {
            Numbers::Here(own) if !LIBRARY.is_empty() => {
                vec![("LD_PRELOAD", &self.library), ("OVERSELL_CLOCK", own.path())]
            }
            Numbers::Here(_) | Numbers::Elsewhere(_) => Vec::new(),
        }
    }

    /// Lets it jump ahead by this much.
    ///
    /// # Errors
    ///
    /// When its file cannot be read or written.
    pub fn run_ahead(&self, by: Duration) -> Result<()> {
        self.set(self.offset_ns()?.saturating_add(nanoseconds(by)))
    }

    /// Lets it step back by this much.
    ///
    /// # Errors
    ///
    /// When its file cannot be read or written.
    pub fn step_back(&self, by: Duration) -> Result<()> {
        self.set(self.offset_ns()?.saturating_sub(nanoseconds(by)))
    }

    /// Sets it right again.
    ///
    /// # Errors
    ///
    /// When its file cannot be written.
    pub fn set_right(&self) -> Result<()> {
        self.set(0)
    }

    /// Sets it right if it is behind. If it is ahead, it keeps its time: setting it right would be a step back.
    ///
    /// # Errors
    ///
    /// When its file cannot be read or written.
    pub fn catch_up(&self) -> Result<()> {
        if self.offset_ns()? < 0 {
            self.set_right()
        } else {
            Ok(())
        }
    }

    /// Returns how often it told the time since the last change.
    ///
    /// # Errors
    ///
    /// When its file cannot be read.
    pub fn told(&self) -> Result<u64> {
        self.numbers.count()
    }

    /// Returns the nanoseconds that it is ahead; less than 0 if it is behind.
    fn offset_ns(&self) -> Result<i64> {
        self.numbers.setting()
    }

    fn set(&self, offset_ns: i64) -> Result<()> {
        self.numbers.set(offset_ns)
    }
}

/// A clock that is off by centuries is as far off as it can be.
fn nanoseconds(duration: Duration) -> i64 {
    duration.as_nanos().try_into().unwrap_or(i64::MAX)
}
