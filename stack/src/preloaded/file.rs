//! The file of two numbers that a library maps into its process, so that a change is seen at once.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Places in the file.
const SETTING: u64 = 0;
const COUNT: u64 = 8;

/// The file of one library in one process, or in several in turn.
pub(crate) struct NumbersFile {
    path: PathBuf,
    file: File,
}

impl NumbersFile {
    /// Makes a file with zeros; one that exists stays as it is.
    pub(crate) fn create(path: &Path) -> Result<NumbersFile> {
        NumbersFile::open(path, true)
    }

    /// Opens a file that exists.
    pub(crate) fn existing(path: &Path) -> Result<NumbersFile> {
        NumbersFile::open(path, false)
    }

    fn open(path: &Path, creates: bool) -> Result<NumbersFile> {
        let open = || -> std::io::Result<File> {
            let file = File::options()
                .read(true)
                .write(true)
                .create(creates)
                .truncate(false)
                .open(path)?;
            file.set_len(COUNT + 8)?;
            Ok(file)
        };
        let file = open().with_context(|| format!("could not write {}", path.display()))?;
        let path = path.to_owned();
        Ok(NumbersFile { path, file })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the first number, which the library obeys.
    pub(crate) fn setting(&self) -> Result<i64> {
        self.read(SETTING).map(i64::from_ne_bytes)
    }

    /// Returns the second number: how often the library acted since the last change.
    pub(crate) fn count(&self) -> Result<u64> {
        self.read(COUNT).map(u64::from_ne_bytes)
    }

    /// Changes the setting. The count begins anew after that, so that it holds nothing of before.
    pub(crate) fn set(&self, setting: i64) -> Result<()> {
        self.write(SETTING, setting.to_ne_bytes())?;
        self.write(COUNT, 0_u64.to_ne_bytes())
    }

    fn read(&self, at: u64) -> Result<[u8; 8]> {
        let mut number = [0; 8];
        let read = self.file.read_exact_at(&mut number, at);
        read.with_context(|| format!("could not read {}", self.path.display()))?;
        Ok(number)
    }

    fn write(&self, at: u64, number: [u8; 8]) -> Result<()> {
        let written = self.file.write_all_at(&number, at);
        written.with_context(|| format!("could not write {}", self.path.display()))
    }
}
