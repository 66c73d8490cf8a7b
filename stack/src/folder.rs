//! The private folder of one run, and the sweep of folders whose owner was killed.

use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use nix::unistd::geteuid;
use tempfile::TempDir;

const PREFIX: &str = "oversell-";
const LOCK: &str = "lock";
/// The name of the lock file until it is locked.
const FRESH_LOCK: &str = "lock.new";

/// The kernel keeps a socket's path in 108 bytes (104 outside Linux), the last of which is zero.
const LONGEST_SOCKET_PATH: usize = if cfg!(target_os = "linux") { 107 } else { 103 };
/// Room for `/mariadb.sock` and its like.
const LONGEST_SOCKET_NAME: usize = 20;

/// A folder only this user can enter, removed on drop. If the process is killed, the next run removes it.
#[derive(Debug)]
pub struct Folder {
    // The content goes before the lock: a folder without an owner may be swept at any time.
    content: TempDir,
    _lock: File,
}

impl Folder {
    /// Makes a folder in the system's temp folder, or in /tmp where that one's path is too long for sockets, and sweeps
    /// the folders of killed runs.
    ///
    /// # Errors
    ///
    /// When no folder can be made in either.
    pub fn new() -> Result<Folder> {
        let mut parents = vec![std::env::temp_dir(), PathBuf::from("/tmp")];
        parents.dedup();
        let mut refused = None;
        for parent in parents {
            sweep(&parent);
            match Folder::within(&parent) {
                Ok(folder) => return Ok(folder),
                Err(error) => refused = Some(error),
            }
        }
        let reason = refused.context("there is no temp folder")?;
        Err(reason.context("no private folder could be made; set TMPDIR to a short path that can be written"))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.content.path()
    }

    fn within(parent: &Path) -> Result<Folder> {
        let private = Permissions::from_mode(0o700);
        let content = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(private)
            .tempdir_in(parent)
            .with_context(|| format!("could not create a folder in {}", parent.display()))?;
        let length = content.path().as_os_str().len() + 1 + LONGEST_SOCKET_NAME;
        if length > LONGEST_SOCKET_PATH {
            bail!("{} is too long for the path of a socket", content.path().display());
        }
        let lock = lock(content.path()).with_context(|| format!("could not lock {}", content.path().display()))?;
        Ok(Folder { content, _lock: lock })
    }
}

/// The folders of this user whose owners are alive.
pub fn owned() -> Vec<PathBuf> {
    let mut parents = vec![std::env::temp_dir(), PathBuf::from("/tmp")];
    parents.dedup();
    let entries = parents.iter().filter_map(|parent| fs::read_dir(parent).ok());
    let ours = entries
        .flatten()
        .flatten()
        .filter(|entry| is_ours(&entry.file_name(), &entry.path()));
    ours.map(|entry| entry.path()).filter(|path| has_owner(path)).collect()
}

/// The file gets its name only once it is locked: a sweep never sees a lock that is free because it is new.
fn lock(folder: &Path) -> std::io::Result<File> {
    let fresh = folder.join(FRESH_LOCK);
    let file = File::create(&fresh)?;
    file.lock()?;
    fs::rename(fresh, folder.join(LOCK))?;
    Ok(file)
}

fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        if is_ours(&entry.file_name(), &entry.path()) && !has_owner(&entry.path()) {
            // A folder that cannot be removed only costs room on the disk.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_ours(name: &OsStr, path: &Path) -> bool {
    let user = geteuid().as_raw();
    name.to_string_lossy().starts_with(PREFIX)
        && path
            .symlink_metadata()
            .is_ok_and(|found| found.is_dir() && found.uid() == user)
}

/// A folder without a lock file is in the making while it has nothing else. Otherwise its owner was killed while it removed the folder.
fn has_owner(folder: &Path) -> bool {
    // Looked at first: an owner puts nothing else into the folder before the lock has its name.
    let is_in_the_making = fs::read_dir(folder).map_or(true, |entries| {
        entries.flatten().all(|entry| entry.file_name() == FRESH_LOCK)
    });
    is_in_the_making
        || match File::open(folder.join(LOCK)) {
            Ok(lock) => lock.try_lock().is_err(),
            Err(error) => error.kind() != ErrorKind::NotFound,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temp_folder_whose_path_leaves_no_room_for_a_socket_is_refused_without_a_trace() {
        let parent = tempfile::tempdir().unwrap();
        let deep = parent
            .path()
            .join("d".repeat(LONGEST_SOCKET_PATH - LONGEST_SOCKET_NAME));
        fs::create_dir(&deep).unwrap();
        let said = Folder::within(&deep).unwrap_err().to_string();
        assert!(said.contains("too long"), "{said}");
        assert_eq!(fs::read_dir(&deep).unwrap().count(), 0);
    }

    #[test]
    fn a_sweep_removes_a_folder_whose_owner_was_killed_while_it_removed_it_and_none_in_the_making() {
        let parent = tempfile::tempdir().unwrap();
        let folder = |name: &str, file: &str| {
            let folder = parent.path().join(format!("{PREFIX}{name}"));
            fs::create_dir(&folder).unwrap();
            File::create(folder.join(file)).unwrap();
            folder
        };
        let (half_removed, in_the_making) = (folder("a", "shop.env"), folder("b", FRESH_LOCK));
        sweep(parent.path());
        assert!(!half_removed.exists());
        assert!(in_the_making.exists());
    }

    #[test]
    fn only_its_owner_can_enter_a_folder() {
        let folder = Folder::new().unwrap();
        assert_eq!(folder.path().metadata().unwrap().mode() & 0o777, 0o700);
    }
}
