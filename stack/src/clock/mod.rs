//! The clock of a process, which can be made to run ahead of all others on this machine.
//!
//! What the process asks for the time is answered by a library that is preloaded into it: the C library's own functions,
//! and what a file adds to them. libfaketime does the same, but cannot be loaded into a Redis that allocates by jemalloc, which
//! asks for the time before libfaketime is set up. Clocks that only count (`CLOCK_MONOTONIC`) are left alone.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};

/// Empty where it cannot be built.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/clock.so"));

/// In the file: nanoseconds ahead, and how often a time that was ahead was told.
const AHEAD: u64 = 0;
const TOLD: u64 = 8;

/// One clock, for one process or for several that follow each other.
#[derive(Clone)]
pub struct Clock(Arc<Files>);

struct Files {
    library: PathBuf,
    path: PathBuf,
    file: File,
}

impl Clock {
    /// A clock that is right, kept in `folder` under that name. If it is there already, it stays as it is.
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

    /// The variables that a process is started with whose clock this is to be; none on a system where that is not possible.
    pub(crate) fn environment(&self) -> Vec<(&'static str, &Path)> {
        if LIBRARY.is_empty() {
            return Vec::new();
        }
        vec![("LD_PRELOAD", &self.0.library), ("OVERSELL_CLOCK", &self.0.path)]
    }

    /// From now on it runs so much further ahead than it does already.
    ///
    /// # Errors
    ///
    /// When its file cannot be read or written.
    pub fn run_ahead(&self, by: Duration) -> Result<()> {
        let ahead = self.read(AHEAD)? + by.as_nanos() as u64;
        self.write(TOLD, 0)?;
        self.write(AHEAD, ahead)
    }

    /// It is right again.
    ///
    /// # Errors
    ///
    /// When its file cannot be written.
    pub fn set_right(&self) -> Result<()> {
        self.write(AHEAD, 0)
    }

    /// How often somebody was told a time that was ahead, since it was last told to run ahead.
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
