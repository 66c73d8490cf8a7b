//! The file through which the library knows the clock of a process.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Places in the file: the nanoseconds that the clock is ahead, and how often it told the time.
const OFFSET: u64 = 0;
const TOLD: u64 = 8;

/// The file of one clock. The library maps it into the process, so that a change is seen at once.
pub(crate) struct ClockFile {
    path: PathBuf,
    file: File,
}

impl ClockFile {
    /// Makes the file of a correct clock; one that exists stays as it is.
    pub(crate) fn create(path: &Path) -> Result<ClockFile> {
        ClockFile::open(path, true)
    }

    /// Opens a file that exists.
    pub(crate) fn existing(path: &Path) -> Result<ClockFile> {
        ClockFile::open(path, false)
    }

    fn open(path: &Path, creates: bool) -> Result<ClockFile> {
        let open = || -> std::io::Result<File> {
            let file = File::options()
                .read(true)
                .write(true)
                .create(creates)
                .truncate(false)
                .open(path)?;
            file.set_len(TOLD + 8)?;
            Ok(file)
        };
        let file = open().with_context(|| format!("could not write {}", path.display()))?;
        let path = path.to_owned();
        Ok(ClockFile { path, file })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the nanoseconds that the clock is ahead; less than 0 if it is behind.
    pub(crate) fn offset_ns(&self) -> Result<i64> {
        self.read(OFFSET).map(i64::from_ne_bytes)
    }

    /// Returns how often the clock told the time since the last change.
    pub(crate) fn told(&self) -> Result<u64> {
        self.read(TOLD).map(u64::from_ne_bytes)
    }

    /// Changes the clock. The count begins anew after that, so that it holds no time that was told before.
    pub(crate) fn set(&self, offset_ns: i64) -> Result<()> {
        self.write(OFFSET, offset_ns.to_ne_bytes())?;
        self.write(TOLD, 0_u64.to_ne_bytes())
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
