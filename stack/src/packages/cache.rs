//! The private cache of unpacked packages: its folders, their protection, and how a new set replaces an old one.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use nix::unistd::geteuid;
use tempfile::TempDir;

use crate::program::{Program, folders_of_postgres, folders_of_programs};
use crate::server_kind::ServerKind;

const STAGING: &str = ".fetch-";

/// A folder that can hold the packages of this release and architecture.
#[derive(Debug)]
pub(crate) struct Cache {
    folder: PathBuf,
    name: String,
}

/// The caches of this user, the better one first; the second serves when there is no writable home.
pub(crate) fn caches() -> Vec<Cache> {
    // The release is part of the name: the binaries need the libraries of the release they were built for.
    let Some(release) = release() else { return Vec::new() };
    let name = format!("packages-{release}-{}", std::env::consts::ARCH);
    let absolute = |variable| {
        std::env::var_os(variable)
            .map(PathBuf::from)
            .filter(|path: &PathBuf| path.is_absolute())
    };
    let home = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    let shared = std::env::temp_dir().join(format!("oversell.cache-{}", user()));
    let folders = home.map(|cache| cache.join("oversell")).into_iter().chain([shared]);
    folders
        .map(|folder| Cache {
            folder,
            name: name.clone(),
        })
        .collect()
}

impl Cache {
    /// The folder that stands for `/` to the unpacked packages. An optional server has one of its own: a later fetch
    /// touches nothing that may be running.
    pub(crate) fn root(&self, optional: Option<ServerKind>) -> PathBuf {
        let own = optional.map(|kind| format!("-{}", kind.to_string().to_lowercase()));
        self.folder.join(format!("{}{}", self.name, own.unwrap_or_default()))
    }

    /// Returns the server, if this cache holds it and no other user could have put it there.
    pub(crate) fn find(&self, kind: ServerKind) -> Option<Program> {
        if !is_ours(&self.folder) {
            return None;
        }
        let root = self.root(Some(kind).filter(|kind| kind.is_optional()));
        let mut folders: Vec<_> = ["usr/sbin", "usr/bin"].map(|bin| root.join(bin)).into();
        folders.extend(folders_of_postgres(&root));
        if !kind.jars().is_empty() {
            // apt-get leaves Java out where it is installed.
            folders.push(root.join("usr/lib/jvm/default-java/bin"));
            folders.extend(folders_of_programs());
        }
        let mut every = kind
            .binaries()
            .iter()
            .flat_map(|name| folders.iter().map(move |bin| bin.join(name)));
        every
            .find(|path| path.is_file())
            .map(|path| Program::unpacked(kind, path, &root))
            .filter(Program::is_whole)
    }

    /// Opens the file whose lock keeps two fetches apart. Creates the cache's folder.
    pub(super) fn open_lock(&self) -> Result<File> {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        builder
            .create(&self.folder)
            .with_context(|| format!("could not create {}", self.folder.display()))?;
        if !is_ours(&self.folder) {
            bail!(
                "{} belongs to another user or can be written by others",
                self.folder.display()
            );
        }
        let path = self.folder.join(format!("{}.lock", self.name));
        let mut options = File::options();
        options.create(true).append(true);
        options
            .open(&path)
            .with_context(|| format!("could not open {}", path.display()))
    }

    /// Makes a folder beside the cache, so that its content can move in by a rename.
    pub(super) fn staging(&self) -> Result<TempDir> {
        tempfile::Builder::new()
            .prefix(STAGING)
            .tempdir_in(&self.folder)
            .with_context(|| format!("could not create a folder in {}", self.folder.display()))
    }

    /// Removes the leftovers of a killed fetch. Call it under the lock only.
    pub(super) fn clear_leftovers(&self) {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return;
        };
        let stale = entries
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(STAGING));
        for entry in stale {
            // A folder that cannot be removed only costs room on the disk.
            let _ = fs::remove_dir_all(entry.path());
        }
    }

    /// Puts a freshly unpacked root in place. Another process sees the old set, none, or the new set, never a part.
    pub(super) fn accept(&self, fresh: &Path, root: &Path) -> Result<()> {
        if root.exists() {
            let old = fresh.with_file_name("old");
            fs::rename(root, &old).with_context(|| format!("could not move {} aside", root.display()))?;
        }
        fs::rename(fresh, root).with_context(|| format!("could not move the packages to {}", root.display()))
    }
}

/// In a shared temp folder another user may have made the folder first; a program from there would run as this user.
fn is_ours(folder: &Path) -> bool {
    folder
        .symlink_metadata()
        .is_ok_and(|found| found.is_dir() && found.uid() == user() && found.mode() & 0o022 == 0)
}

fn user() -> u32 {
    geteuid().as_raw()
}

fn release() -> Option<String> {
    let text = fs::read_to_string("/etc/os-release").ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="))?;
    let plain = value.trim_matches('"');
    (!plain.is_empty() && plain.chars().all(char::is_alphanumeric)).then(|| plain.to_owned())
}
