//! The files of a journal, beside the data of its process.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::journal::Journal;
use super::{Loss, undo};

/// The files of one journal.
#[derive(Clone, Debug)]
pub(crate) struct JournalFiles {
    /// The journal, and the files that lost their names.
    pub(super) folder: PathBuf,
    pub(super) data: PathBuf,
}

impl JournalFiles {
    /// Names them: the journal of a process with that data folder is in `folder`. Both are on one mount.
    ///
    /// # Errors
    ///
    /// When there is no such data folder.
    pub(crate) fn of(folder: &Path, data: &Path) -> Result<JournalFiles> {
        let found = data.canonicalize();
        Ok(JournalFiles {
            // The library compares with paths as the kernel knows them.
            data: found.with_context(|| format!("there is no data folder {}", data.display()))?,
            folder: folder.to_owned(),
        })
    }

    /// Begins an empty journal. The process has to start afterwards.
    pub(crate) fn begin(&self) -> Result<()> {
        self.end()?;
        let begun = fs::create_dir_all(self.folder.join("gone")).and_then(|()| fs::write(self.journal(), []));
        begun.with_context(|| format!("could not write {}", self.folder.display()))
    }

    /// Removes the journal: a process that starts afterwards keeps none. A folder that is no journal stays, and is an error.
    pub(crate) fn end(&self) -> Result<()> {
        if self.folder.exists() && !self.journal().exists() {
            bail!("{} is no journal", self.folder.display());
        }
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("could not remove {}", self.folder.display()))
            }
            _ => Ok(()),
        }
    }

    /// Returns how long the journal is.
    pub(crate) fn length(&self) -> Result<u64> {
        let found = fs::metadata(self.journal());
        let found = found.with_context(|| format!("there is no journal {}", self.journal().display()))?;
        Ok(found.len())
    }

    /// Returns whether the process has synced something, and has no more to sync.
    pub(crate) fn is_synced(&self) -> Result<bool> {
        let bytes = self.read()?;
        let journal = Journal::read(&bytes)?;
        let is_left = journal.changes.iter().any(|change| journal.is_left(change));
        Ok(journal.last_sync() > 0 && !is_left)
    }

    /// Undoes what was not synced and removes the journal. The process must have ended.
    pub(crate) fn lose(&self) -> Result<Loss> {
        let bytes = self.read()?;
        let loss = undo::undo(&Journal::read(&bytes)?, [&self.data, &self.folder.join("gone")])?;
        self.end()?;
        Ok(loss)
    }

    fn journal(&self) -> PathBuf {
        self.folder.join("journal")
    }

    fn read(&self) -> Result<Vec<u8>> {
        fs::read(self.journal()).with_context(|| format!("could not read {}", self.journal().display()))
    }
}
