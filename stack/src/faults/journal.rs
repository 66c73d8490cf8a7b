//! The journal of what a server in a container writes and does not sync. The script `supervised` runs this program beside the
//! server, and the load test reads what it answers.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::Faults;
use crate::unsynced::{JournalFiles, Loss};

/// Begins a journal, looks into it, or undoes what was not synced, as `command` says: `begin`, `look` or `lose`. The files of the
/// journal are in `folder`, and those of the server in `data`. Returns numbers, separated by blanks: of `look` the length of the
/// journal and 1 if all is synced; of `lose` the numbers of [`Loss`].
///
/// # Errors
///
/// When there is no such command, data folder or journal, or a file cannot be put back.
pub fn journal(command: &str, folder: &Path, data: &Path) -> Result<String> {
    let files = JournalFiles::of(folder, data)?;
    match command {
        "begin" => files.begin().map(|()| "0".to_owned()),
        "look" => Ok(format!("{} {}", files.length()?, u8::from(files.is_synced()?))),
        "lose" => files.lose().map(|loss| {
            format!(
                "{} {} {} {} {}",
                loss.writes, loss.bytes, loss.files, loss.names, loss.last_sync
            )
        }),
        _ => bail!("a journal has no command {command}"),
    }
}

/// The journal of a server in a container.
#[derive(Clone)]
pub(crate) struct RemoteJournal {
    faults: Faults,
    server: String,
}

impl RemoteJournal {
    /// Uses the journal of that server.
    pub(crate) fn new(faults: &Faults, server: &str) -> RemoteJournal {
        let (faults, server) = (faults.clone(), server.to_owned());
        RemoteJournal { faults, server }
    }

    pub(crate) fn begin(&self) -> Result<()> {
        let [_] = self.ask("begin")?;
        Ok(())
    }

    pub(crate) fn length(&self) -> Result<u64> {
        let [length, _] = self.ask("look")?;
        Ok(length)
    }

    pub(crate) fn is_synced(&self) -> Result<bool> {
        let [_, is_synced] = self.ask("look")?;
        Ok(is_synced == 1)
    }

    pub(crate) fn lose(&self) -> Result<Loss> {
        let [writes, bytes, files, names, last_sync] = self.ask("lose")?;
        Ok(Loss {
            writes: writes.try_into()?,
            bytes,
            files: files.try_into()?,
            names: names.try_into()?,
            last_sync,
        })
    }

    fn ask<const COUNT: usize>(&self, command: &str) -> Result<[u64; COUNT]> {
        let answer = self.faults.ask(&format!("process {} {command}", self.server))?;
        let numbers = answer.split(' ').map(str::parse).collect::<Result<Vec<u64>, _>>();
        let numbers = numbers.ok().and_then(|numbers| numbers.try_into().ok());
        numbers.with_context(|| format!("the journal of {} answers: {answer}", self.server))
    }
}
