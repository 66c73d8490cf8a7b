//! The journal that the library writes, read back.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The numbers at the head of a record, each of 64 bits: see `journal.h`.
const NUMBERS: usize = 6;
const HEAD: usize = NUMBERS * 8;

/// A change of a file, and how to undo it.
#[derive(Debug)]
pub(super) struct Change<'a> {
    /// Where the record begins in the journal.
    pub(super) place: u64,
    pub(super) inode: u64,
    /// The first byte that was changed.
    pub(super) at: u64,
    /// The bytes from there, as they were.
    pub(super) bytes: &'a [u8],
    /// The size of the file, as it was.
    pub(super) size: u64,
    /// The number of bytes that were written.
    pub(super) written: u64,
}

/// A change of names, and how to undo it.
#[derive(Debug)]
pub(super) struct Renaming {
    pub(super) place: u64,
    pub(super) kind: RenamingKind,
}

#[derive(Debug)]
pub(super) enum RenamingKind {
    Created(PathBuf),
    /// From where to where, and where a file that was replaced is kept.
    Renamed(PathBuf, PathBuf, Option<PathBuf>),
    /// The file is kept under the second name.
    Unlinked(PathBuf, PathBuf),
    FolderMade(PathBuf),
    FolderRemoved(PathBuf),
}

/// All records of a journal, in the order in which they were written.
#[derive(Debug, Default)]
pub(super) struct Journal<'a> {
    pub(super) changes: Vec<Change<'a>>,
    pub(super) renamings: Vec<Renaming>,
    /// By inode: the end of the journal when the last sync of the file ended. It covers every change of the file before.
    synced: HashMap<u64, u64>,
}

impl<'a> Journal<'a> {
    /// Reads it. A last record that was cut off by a kill is left out: the change that it speaks of was never made.
    ///
    /// # Errors
    ///
    /// When a file was written in a way that the library does not see, or the journal is not one of the library.
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut journal = Journal::default();
        let mut rest = bytes;
        while let Some((head, behind)) = rest.split_first_chunk::<HEAD>() {
            let [kind, length, inode, at, size, written] = numbers(head);
            let Some((payload, behind)) = behind.split_at_checked(usize::try_from(length)?) else {
                break;
            };
            let place = (bytes.len() - rest.len()) as u64;
            let paths = || paths(payload);
            let mut rename = |kind| journal.renamings.push(Renaming { place, kind });
            match kind {
                0 => journal.changes.push(Change {
                    place,
                    inode,
                    at,
                    bytes: payload,
                    size,
                    written,
                }),
                1 => {
                    let upto = journal.synced.entry(inode).or_default();
                    *upto = at.max(*upto);
                }
                2 => rename(RenamingKind::Created(first(paths()?)?)),
                3 => {
                    let mut paths = paths()?.into_iter();
                    let (from, to) = (first(paths.by_ref())?, first(paths.by_ref())?);
                    rename(RenamingKind::Renamed(
                        from,
                        to,
                        paths.next().filter(|path| is_named(path)),
                    ));
                }
                4 => {
                    let mut paths = paths()?.into_iter();
                    let path = first(paths.by_ref())?;
                    // Without a kept file it was no file but, say, a socket.
                    if let Some(kept) = paths.next().filter(|path| is_named(path)) {
                        rename(RenamingKind::Unlinked(path, kept));
                    }
                }
                5 => rename(RenamingKind::FolderMade(first(paths()?)?)),
                6 => rename(RenamingKind::FolderRemoved(first(paths()?)?)),
                7 => bail!(
                    "{} was written in a way that is not seen: through a map or a stream",
                    first(paths()?)?.display()
                ),
                _ => bail!("there is a record of the unknown kind {kind}"),
            }
            rest = behind;
        }
        Ok(journal)
    }

    /// Whether a sync of its file covers the change.
    pub(super) fn is_synced(&self, change: &Change<'_>) -> bool {
        self.synced.get(&change.inode).is_some_and(|upto| change.place < *upto)
    }

    /// Whether its file was synced at some time, and no sync covers the change.
    pub(super) fn is_left(&self, change: &Change<'_>) -> bool {
        !self.is_synced(change) && self.synced.contains_key(&change.inode)
    }

    /// Returns up to where any sync covers the names: that of one file carries all names that were changed before.
    pub(super) fn last_sync(&self) -> u64 {
        self.synced.values().copied().max().unwrap_or(0)
    }
}

fn numbers(head: &[u8; HEAD]) -> [u64; NUMBERS] {
    let mut numbers = [0; NUMBERS];
    for (number, bytes) in numbers.iter_mut().zip(head.as_chunks::<8>().0) {
        *number = u64::from_ne_bytes(*bytes);
    }
    numbers
}

fn paths(payload: &[u8]) -> Result<Vec<PathBuf>> {
    let paths = payload.strip_suffix(&[0]).context("a path has no end")?;
    let paths = paths.split(|byte| *byte == 0);
    Ok(paths.map(|path| PathBuf::from(OsStr::from_bytes(path))).collect())
}

fn first(paths: impl IntoIterator<Item = PathBuf>) -> Result<PathBuf> {
    paths
        .into_iter()
        .next()
        .filter(|path| is_named(path))
        .context("a path is missing")
}

fn is_named(path: &Path) -> bool {
    !path.as_os_str().is_empty()
}
