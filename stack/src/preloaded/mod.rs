//! What a preloaded library in a process and this process know of each other: two numbers. The library obeys the first one, the
//! setting, and counts in the second one how often it acted since the last change.

mod file;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

pub(crate) use self::file::NumbersFile;
use crate::faults::RemoteNumbers;

/// The numbers of one library in one process.
pub(crate) enum Numbers {
    /// Of a child of this process.
    Here(NumbersFile),
    /// Of a process in a container, behind the service for faults.
    Elsewhere(RemoteNumbers),
}

impl Numbers {
    pub(crate) fn setting(&self) -> Result<i64> {
        match self {
            Numbers::Here(file) => file.setting(),
            Numbers::Elsewhere(remote) => remote.setting(),
        }
    }

    pub(crate) fn count(&self) -> Result<u64> {
        match self {
            Numbers::Here(file) => file.count(),
            Numbers::Elsewhere(remote) => remote.count(),
        }
    }

    pub(crate) fn set(&self, setting: i64) -> Result<()> {
        match self {
            Numbers::Here(file) => file.set(setting),
            Numbers::Elsewhere(remote) => remote.set(setting),
        }
    }
}

/// Writes a library into `folder`, unless it is there, and returns its path.
///
/// # Errors
///
/// When it cannot be written.
pub(crate) fn library(folder: &Path, name: &str, content: &[u8]) -> Result<PathBuf> {
    let library = folder.join(name);
    if !library.exists() {
        fs::write(&library, content).with_context(|| format!("could not write {}", library.display()))?;
    }
    Ok(library)
}
