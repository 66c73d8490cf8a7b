//! What was not synced is undone.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::Loss;
use super::journal::{Change, Journal, RenamingKind};

/// Undoes every change without a sync, the last one first, in the files that are in one of these folders.
///
/// # Errors
///
/// When a file cannot be written.
pub(super) fn undo(journal: &Journal<'_>, folders: [&Path; 2]) -> Result<Loss> {
    let mut files = HashMap::new();
    for folder in folders {
        find_files(folder, &mut files).with_context(|| format!("could not read {}", folder.display()))?;
    }
    let mut loss = Loss {
        last_sync: journal.last_sync(),
        ..Loss::default()
    };
    let mut changed = HashSet::new();
    for change in journal.changes.iter().rev() {
        // A file that nobody can find any more never had a name, or lost it before all this.
        let Some(path) = files.get(&change.inode).filter(|_| !journal.is_synced(change)) else {
            continue;
        };
        undo_change(path, change).with_context(|| format!("could not put {} back", path.display()))?;
        changed.insert(change.inode);
        loss.writes += 1;
        loss.bytes += change.written;
    }
    for renaming in journal.renamings.iter().rev() {
        if renaming.place < journal.last_sync() {
            break;
        }
        undo_renaming(&renaming.kind).with_context(|| format!("could not undo {:?}", renaming.kind))?;
        loss.names += 1;
    }
    loss.files = changed.len();
    Ok(loss)
}

fn undo_change(path: &Path, change: &Change<'_>) -> io::Result<()> {
    let file = File::options().write(true).open(path)?;
    file.set_len(change.size)?;
    file.write_all_at(change.bytes, change.at)
}

fn undo_renaming(kind: &RenamingKind) -> io::Result<()> {
    match kind {
        RenamingKind::Created(path) => fs::remove_file(path),
        RenamingKind::Renamed(from, to, replaced) => {
            fs::rename(to, from)?;
            replaced.as_ref().map_or(Ok(()), |kept| fs::hard_link(kept, to))
        }
        RenamingKind::Unlinked(path, kept) => fs::hard_link(kept, path),
        RenamingKind::FolderMade(path) => fs::remove_dir(path),
        RenamingKind::FolderRemoved(path) => fs::create_dir(path),
    }
}

/// Adds every file below the folder by its inode.
fn find_files(folder: &Path, files: &mut HashMap<u64, PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let found = entry.metadata()?;
        if found.is_dir() {
            find_files(&entry.path(), files)?;
        } else if found.is_file() {
            files.insert(found.ino(), entry.path());
        }
    }
    Ok(())
}
