//! The output of a child on stdout and stderr.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Enough for the reason of a failed start, little enough for an error message.
const TAIL_BYTES: u64 = 4096;
const TAIL_LINES: usize = 20;

/// The log of one service.
#[derive(Clone, Debug)]
pub struct Log {
    /// The file, which is removed with the private folder.
    pub path: PathBuf,
    /// Its last lines, at most twenty.
    pub tail: String,
}

impl Log {
    /// Of a service whose output goes elsewhere.
    pub(crate) fn none() -> Log {
        Log {
            path: PathBuf::new(),
            tail: String::new(),
        }
    }

    pub(crate) fn read(path: &Path) -> Log {
        let tail = tail(path).unwrap_or_else(|error| format!("(could not read {}: {error})", path.display()));
        Log {
            path: path.to_owned(),
            tail,
        }
    }
}

fn tail(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    Ok(lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n"))
}
