//! The progress of a learner, kept in a file.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// The name of the file.
const FILE: &str = "progress.json";

/// The progress in all labs, and the folder that keeps it.
#[derive(Debug)]
pub struct Progress {
    folder: PathBuf,
    labs: BTreeMap<String, State>,
}

/// The progress in one lab.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct State {
    /// The answer that the learner chose before the run.
    pub predicted: Option<char>,
    /// The folder of the last run's result; empty for a lab that is followed by hand.
    pub ran: Option<PathBuf>,
    /// Whether the answer was shown.
    pub is_revealed: bool,
    /// How many hints were shown.
    pub hints: usize,
    /// The strategy that passed the check.
    pub passed: Option<String>,
}

impl Progress {
    /// Reads the progress in this folder. Where there is none, nothing is done yet.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(folder: &Path) -> Result<Self> {
        let file = folder.join(FILE);
        let labs = match fs::read_to_string(&file) {
            Err(error) if error.kind() == ErrorKind::NotFound => BTreeMap::new(),
            text => text
                .map_err(anyhow::Error::from)
                .and_then(|text| Ok(serde_json::from_str(&text)?))
                .with_context(|| format!("{} cannot be read; delete it to begin anew", file.display()))?,
        };
        Ok(Self {
            folder: folder.to_owned(),
            labs,
        })
    }

    /// Returns the progress in the lab with this name.
    pub fn of(&self, lab: &str) -> State {
        self.labs.get(lab).cloned().unwrap_or_default()
    }

    /// Keeps the progress in a lab.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn keep(&mut self, lab: &str, state: State) -> Result<()> {
        self.labs.insert(lab.to_owned(), state);
        self.write()
    }

    /// Forgets the progress in a lab, or in all.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn forget(&mut self, lab: Option<&str>) -> Result<()> {
        match lab {
            Some(lab) => drop(self.labs.remove(lab)),
            None => self.labs.clear(),
        }
        self.write()
    }

    /// Replaces the file as a whole, so that an interruption leaves no half of it.
    fn write(&self) -> Result<()> {
        let (file, new) = (self.folder.join(FILE), self.folder.join(".progress.new"));
        let written = || {
            fs::create_dir_all(&self.folder)?;
            fs::write(&new, serde_json::to_string_pretty(&self.labs)? + "\n")?;
            anyhow::Ok(fs::rename(&new, &file)?)
        };
        written().with_context(|| format!("cannot write {}", file.display()))
    }
}
