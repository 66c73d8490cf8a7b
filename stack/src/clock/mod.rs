//! The clock of a process, which can be made to run ahead of all others on this machine.
//!
//! A preloaded library answers when the process asks for the time: it adds the number in a file to the real time. libfaketime
//! does the same, but cannot be loaded into a Redis with jemalloc, which asks for the time before libfaketime is set up.
//! `CLOCK_MONOTONIC` stays as it is.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};

/// The library; empty where it cannot be built.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/clock.so"));

/// Offsets in the file: nanoseconds ahead, and how often a time that was ahead was returned.
const AHEAD: u64 = 0;
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

    /// Lets it run further ahead by this much.
    ///
    /// # Errors
    ///
    /// When its file cannot be read or written.
    pub fn run_ahead(&self, by: Duration) -> Result<()> {
        let ahead = self.read(AHEAD)? + by.as_nanos() as u64;
        self.write(TOLD, 0)?;
        self.write(AHEAD, ahead)
    }

    /// Sets it right again.
    ///
    /// # Errors
    ///
    /// When its file cannot be written.
    pub fn set_right(&self) -> Result<()> {
        self.write(AHEAD, 0)
    }

    /// Returns how often a time that was ahead was returned since the last [`Clock::run_ahead`].
    ///
    /// # Errors
    ///
    /// When its file cannot be read.
    pub fn told(&self) -> Result<u64> {
        self.read(TOLD)
    }

    fn read(&self, at: u64) -> Result<u64> {
        let mut number = [0; 8];
        let read = self.0.file.read_exact_at(&mut number, at);
        read.with_context(|| format!("could not read {}", self.0.path.display()))?;
        Ok(u64::from_ne_bytes(number))
    }

    fn write(&self, at: u64, number: u64) -> Result<()> {
        let written = self.0.file.write_all_at(&number.to_ne_bytes(), at);
        written.with_context(|| format!("could not write {}", self.0.path.display()))
    }
}
