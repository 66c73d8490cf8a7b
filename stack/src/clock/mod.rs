//! The clock of a process, which can step ahead of all others on this machine, or behind them.
//!
//! A preloaded library answers when the process asks for the time: it adds the number in a file to the real time. libfaketime
//! does the same, but cannot be loaded into a Redis with jemalloc, which asks for the time before libfaketime is set up.
//! `CLOCK_MONOTONIC` stays as it is: no step of a clock changes it.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};

/// The library; empty where it cannot be built.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/clock.so"));

/// Places in the file: the nanoseconds that the clock is ahead, and how often it told the time.
const OFFSET: u64 = 0;
const TOLD: u64 = 8;

/// A clock for one process, or for several in turn.
#[derive(Clone)]
pub struct Clock(Arc<Files>);

struct Files {
    library: PathBuf,
    path: PathBuf,
    file: File,
}

impl Clock {
    /// Makes a correct clock in `folder` under that name; one that exists stays as it is.
    pub(crate) fn new(folder: &Path, name: &str) -> Result<Clock> {
        let library = folder.join("clock.so");
        let path = folder.join(format!("{name}.clock"));
        let open = || -> std::io::Result<File> {
            if !library.exists() {
                fs::write(&library, LIBRARY)?;
            }
            let file = File::options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)?;
            file.set_len(TOLD + 8)?;
            Ok(file)
        };
        let file = open().with_context(|| format!("could not write {}", path.display()))?;
        Ok(Clock(Arc::new(Files { library, path, file })))
    }

    /// Returns the variables that give a process this clock; none on a system where that is not possible.
    pub(crate) fn environment(&self) -> Vec<(&'static str, &Path)> {
        if LIBRARY.is_empty() {
            return Vec::new();
        }
        vec![("LD_PRELOAD", &self.0.library), ("OVERSELL_CLOCK", &self.0.path)]
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
        self.read(TOLD).map(u64::from_ne_bytes)
    }

    /// Returns the nanoseconds that it is ahead; less than 0 if it is behind.
    fn offset_ns(&self) -> Result<i64> {
        self.read(OFFSET).map(i64::from_ne_bytes)
    }

    /// The count begins anew after the change, so that it holds no time that was told before.
    fn set(&self, offset_ns: i64) -> Result<()> {
        self.write(OFFSET, offset_ns.to_ne_bytes())?;
        self.write(TOLD, 0_u64.to_ne_bytes())
    }

    fn read(&self, at: u64) -> Result<[u8; 8]> {
        let mut number = [0; 8];
        let read = self.0.file.read_exact_at(&mut number, at);
        read.with_context(|| format!("could not read {}", self.0.path.display()))?;
        Ok(number)
    }

    fn write(&self, at: u64, number: [u8; 8]) -> Result<()> {
        let written = self.0.file.write_all_at(&number, at);
        written.with_context(|| format!("could not write {}", self.0.path.display()))
    }
}

/// A clock that is off by centuries is as far off as it can be.
fn nanoseconds(duration: Duration) -> i64 {
    duration.as_nanos().try_into().unwrap_or(i64::MAX)
}
