//! The disk of a process, which can be full for a while.
//!
//! A preloaded library refuses each call that would make a file in the data folder of the process longer, as a file system without
//! free space does (`ENOSPC`). It differs in one point: a real file can grow to the end of its last block. A file system that is
//! really full would need root, and would stop the other programs of this machine.

#[cfg(all(test, target_os = "linux"))]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;

use crate::faults::RemoteNumbers;
use crate::preloaded::{Numbers, NumbersFile, library};

/// The library; empty where it cannot be built.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/disk.so"));

/// The settings. Every other one is the number of a thread: the disk is full, and the calls of this thread are not counted.
const HAS_ROOM: i64 = 0;
const IS_FULL: i64 = 1;

/// The disk of one process.
#[derive(Clone)]
pub struct Disk {
    library: PathBuf,
    data: PathBuf,
    /// Whether it is full, and how many calls failed.
    numbers: Arc<Numbers>,
}

impl Disk {
    /// Prepares for a process with that data folder; the numbers are in `folder`, under that name. Returns `None` on a system where
    /// no library can be preloaded.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub(crate) fn new(folder: &Path, name: &str, data: &Path) -> Result<Option<Disk>> {
        if LIBRARY.is_empty() {
            return Ok(None);
        }
        let own = NumbersFile::create(&folder.join(format!("{name}.disk")))?;
        Ok(Some(Disk {
            library: library(folder, "disk.so", LIBRARY)?,
            data: data.to_owned(),
            numbers: Arc::new(Numbers::Here(own)),
        }))
    }

    /// Uses the disk of a process in a container.
    pub(crate) fn elsewhere(disk: RemoteNumbers) -> Disk {
        Disk {
            library: PathBuf::new(),
            data: PathBuf::new(),
            numbers: Arc::new(Numbers::Elsewhere(disk)),
        }
    }

    /// Returns the variables that give a child this disk.
    pub(crate) fn environment(&self) -> Vec<(&'static str, &Path)> {
        match &*self.numbers {
            Numbers::Here(own) => vec![
                ("LD_PRELOAD", &self.library),
                ("OVERSELL_DISK", own.path()),
                ("OVERSELL_DATA", &self.data),
            ],
            Numbers::Elsewhere(_) => Vec::new(),
        }
    }

    /// Leaves no room on it: from now on no file becomes longer.
    ///
    /// # Errors
    ///
    /// When its file cannot be written.
    pub fn fill(&self) -> Result<()> {
        self.numbers.set(IS_FULL)
    }

    /// Does the same, and does not count the calls of this thread of the process, given by the number that the kernel has for it.
    ///
    /// # Errors
    ///
    /// When its file cannot be written.
    pub fn fill_without_counting(&self, thread: u32) -> Result<()> {
        self.numbers.set(thread.into())
    }

    /// Makes room, and returns how many calls had failed.
    ///
    /// # Errors
    ///
    /// When its file cannot be read or written.
    pub fn make_room(&self) -> Result<u64> {
        let failed = self.failed()?;
        self.numbers.set(HAS_ROOM)?;
        Ok(failed)
    }

    /// Returns how many calls failed since it became full.
    ///
    /// # Errors
    ///
    /// When its file cannot be read.
    pub fn failed(&self) -> Result<u64> {
        self.numbers.count()
    }
}
