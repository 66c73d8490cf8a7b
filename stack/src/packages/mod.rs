//! The rootless fetch: the distribution's own packages, unpacked into a private cache; nothing is installed.

mod apt;
mod cache;
mod links;

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::server_kind::ServerKind;
pub(crate) use cache::{Cache, caches};

/// Fetches the wanted servers, which share one root, into the first writable cache, and returns that cache.
///
/// # Errors
///
/// When this is not Debian or Ubuntu, no cache can be written, or a package cannot be fetched.
pub(crate) fn fetch<'a>(caches: &'a [Cache], wanted: &[ServerKind]) -> Result<&'a Cache> {
    let root = |cache: &Cache| root_of(cache, wanted);
    target_folder(caches, wanted)?;
    let (cache, lock) = first_writable(caches)?;
    lock.lock()
        .with_context(|| format!("could not lock the cache beside {}", root(cache).display()))?;
    // Another run may have fetched everything while this one waited for the lock.
    if wanted.iter().all(|&kind| cache.find(kind).is_some()) {
        return Ok(cache);
    }
    cache.clear_leftovers();
    let names: Vec<&str> = wanted.iter().flat_map(|kind| kind.packages()).copied().collect();
    // A closed stderr is no reason not to fetch.
    let _ = writeln!(
        io::stderr(),
        "oversell: fetching {} from the distribution into {} (no system change; --no-fetch forbids it)",
        names.join(", "),
        root(cache).display()
    );
    let staging = cache.staging()?;
    let archives = apt::download(staging.path(), wanted)?;
    let fresh = staging.path().join("root");
    fs::create_dir(&fresh).with_context(|| format!("could not create {}", fresh.display()))?;
    for archive in &archives {
        unpack(archive, &fresh)?;
    }
    links::keep_inside(&fresh)?;
    cache.accept(&fresh, &root(cache))?;
    Ok(cache)
}

/// Returns the folder that [`fetch`] would use, if it can be written.
///
/// # Errors
///
/// When nothing can be fetched here.
pub(crate) fn target_folder(caches: &[Cache], wanted: &[ServerKind]) -> Result<PathBuf> {
    if !apt::is_here() {
        bail!("packages are fetched with apt-get and dpkg, and these are not here");
    }
    let cache = caches.first().context("there is no folder to keep packages in")?;
    Ok(root_of(cache, wanted))
}

fn root_of(cache: &Cache, wanted: &[ServerKind]) -> PathBuf {
    cache.root(wanted.first().copied().filter(|kind| kind.is_optional()))
}

fn first_writable(caches: &[Cache]) -> Result<(&Cache, File)> {
    let mut last = None;
    for cache in caches {
        match cache.open_lock() {
            Ok(lock) => return Ok((cache, lock)),
            Err(error) => last = Some(error),
        }
    }
    Err(last.context("there is no folder to keep packages in")?).context("no folder to keep packages in can be written")
}

fn unpack(archive: &Path, root: &Path) -> Result<()> {
    apt::run(
        std::process::Command::new("dpkg")
            .arg("-x")
            .arg(archive)
            .arg(root)
            .env("HOME", root),
    )
    .with_context(|| format!("could not unpack {}", archive.display()))?;
    Ok(())
}
