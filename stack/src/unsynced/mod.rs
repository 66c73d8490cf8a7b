//! A loss of power: what a process wrote and did not sync is gone.
//!
//! A kill does not show that: the kernel keeps what was written and brings it to the disk later. So a preloaded library keeps
//! a journal of how to undo each change that the process makes in its data folder, and of its syncs. When the power is lost,
//! the process is killed, and all changes without a sync are undone, the last one first. LazyFS does the same as a file system,
//! which needs FUSE.
//!
//! # What is assumed
//!
//! - A file has on disk what it had when `fsync` or `fdatasync` of it ended, and no byte that was written later; a real loss
//!   may spare any part of that. So it tears no page. A sync promises nothing of a write that came while it was going on, but
//!   InnoDB relies on it: `fil_space_t::flush_low` takes the whole file for synced when its sync is over.
//! - What is written past the page cache (`O_DIRECT`) is in the memory of the drive until it is synced; with `O_DSYNC` and
//!   `O_SYNC` it is on the disk. `sync_file_range` promises nothing.
//! - A sync of any file or folder carries all names that were made, changed and removed before it, as in ext4. Later names are gone.
//! - What was there when the process started was on disk.
//!
//! The library sees no write through io_uring or Linux AIO, so it answers that there are none, and servers write by other
//! calls. A file that is written through a shared map, or through a stream of the C library that did not empty it, is an error when
//! the power is lost.

mod files;
mod journal;
#[cfg(all(test, target_os = "linux", target_pointer_width = "64"))]
mod tests;
mod undo;

use std::path::{Path, PathBuf};

use anyhow::Result;

pub(crate) use self::files::JournalFiles;
use crate::faults::RemoteJournal;
use crate::preloaded::library;

/// The library; empty where it cannot be built.
const LIBRARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/unsynced.so"));

/// The journal of what one process wrote and did not sync, kept from a start of the process on if it was begun before.
#[derive(Clone)]
pub struct Unsynced(Process);

/// Where its process runs.
#[derive(Clone)]
enum Process {
    /// As a child of this process, with the library.
    Here(PathBuf, JournalFiles),
    /// In a container, behind the service for faults.
    Elsewhere(RemoteJournal),
}

/// What was not synced when the power was lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Loss {
    /// Changes of files that were undone.
    pub writes: usize,
    /// Bytes that these changes had written.
    pub bytes: u64,
    /// Files in which they were.
    pub files: usize,
    /// Names that were made, changed or removed, and are again as they were.
    pub names: usize,
    pub(crate) last_sync: u64,
}

impl Unsynced {
    /// Prepares for a process with that data folder. The files of the journal are in `folder`, under that name. Returns `None`
    /// on a system where no journal can be kept.
    ///
    /// # Errors
    ///
    /// When the library cannot be written.
    pub(crate) fn new(folder: &Path, name: &str, data: &Path) -> Result<Option<Unsynced>> {
        if LIBRARY.is_empty() {
            return Ok(None);
        }
        let library = library(folder, "unsynced.so", LIBRARY)?;
        let files = JournalFiles::of(&folder.canonicalize()?.join(format!("{name}.unsynced")), data)?;
        Ok(Some(Unsynced(Process::Here(library, files))))
    }

    /// Uses the journal of a process in a container.
    pub(crate) fn elsewhere(journal: RemoteJournal) -> Unsynced {
        Unsynced(Process::Elsewhere(journal))
    }

    /// Returns the variables with which a child can keep it.
    pub(crate) fn environment(&self) -> Vec<(&'static str, &Path)> {
        match &self.0 {
            Process::Here(library, files) => vec![
                ("LD_PRELOAD", library),
                ("OVERSELL_UNSYNCED", &files.folder),
                ("OVERSELL_DATA", &files.data),
            ],
            Process::Elsewhere(_) => Vec::new(),
        }
    }

    /// Begins an empty journal. The process has to start afterwards.
    ///
    /// # Errors
    ///
    /// When its files cannot be written.
    pub(crate) fn begin(&self) -> Result<()> {
        match &self.0 {
            Process::Here(_, files) => files.begin(),
            Process::Elsewhere(journal) => journal.begin(),
        }
    }

    /// Returns how long the journal is, to be compared with a later loss.
    ///
    /// # Errors
    ///
    /// When there is none.
    pub fn length(&self) -> Result<u64> {
        match &self.0 {
            Process::Here(_, files) => files.length(),
            Process::Elsewhere(journal) => journal.length(),
        }
    }

    /// Returns whether the process has synced something, and has no more to sync. Files that it never syncs, such as temporary
    /// ones, do not count.
    ///
    /// # Errors
    ///
    /// When the journal cannot be read.
    pub fn is_synced(&self) -> Result<bool> {
        match &self.0 {
            Process::Here(_, files) => files.is_synced(),
            Process::Elsewhere(journal) => journal.is_synced(),
        }
    }

    /// Undoes what was not synced and removes the journal. The process must have ended.
    ///
    /// # Errors
    ///
    /// When a file was written in a way that is not seen, or cannot be put back.
    pub(crate) fn lose(&self) -> Result<Loss> {
        match &self.0 {
            Process::Here(_, files) => files.lose(),
            Process::Elsewhere(journal) => journal.lose(),
        }
    }
}

impl Loss {
    /// Returns whether nothing at all was synced after the journal had this length.
    pub fn is_all_since(&self, length: u64) -> bool {
        self.last_sync <= length
    }
}
