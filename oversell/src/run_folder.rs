//! The folder of one run, below the folder of all results.

use std::path::{Path, PathBuf};
use std::{fs, io};

use anyhow::{Context, Result};
use chrono::{DateTime, Utc};

/// Returns the name of a run that began at that time.
pub fn id(began: DateTime<Utc>) -> String {
    began.format("%Y%m%dT%H%M%S%3fZ").to_string()
}

/// Makes a new folder below `results`, named after `run_id`; two runs that began at one moment get one each.
///
/// # Errors
/// When it cannot be made.
pub fn new(results: &Path, run_id: &str) -> Result<PathBuf> {
    fs::create_dir_all(results).with_context(|| format!("cannot make {}", results.display()))?;
    let mut folder = results.join(run_id);
    for number in 2.. {
        match fs::create_dir(&folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                folder = results.join(format!("{run_id}-{number}"));
            }
            made => {
                made.with_context(|| format!("cannot make {}", folder.display()))?;
                break;
            }
        }
    }
    Ok(folder)
}
