//! A program that was found, and how to run it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::server_kind::ServerKind;

/// Where a program came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Installed on this machine.
    Path,
    /// Unpacked from the distribution's package into the private cache.
    Fetched,
    /// Its jars were unpacked into the private cache; the Java that runs them is installed.
    FetchedJars,
}

/// A binary together with what it needs to run.
#[derive(Clone, Debug)]
pub struct Program {
    /// What it is.
    pub kind: ServerKind,
    /// The binary.
    pub path: PathBuf,
    /// Folders for `LD_LIBRARY_PATH`; empty for an installed program.
    pub library_path: Vec<PathBuf>,
    /// The jars of a program in Java; empty for any other.
    pub class_path: Vec<PathBuf>,
    /// The prefix of an unpacked package, the folder that stands for `/`.
    pub root: Option<PathBuf>,
    /// Installed or fetched.
    pub origin: Origin,
}

impl Program {
    pub(crate) fn installed(kind: ServerKind, path: PathBuf) -> Program {
        Program {
            kind,
            path,
            library_path: Vec::new(),
            class_path: class_path(kind, Path::new("/")),
            root: None,
            origin: Origin::Path,
        }
    }

    pub(crate) fn unpacked(kind: ServerKind, path: PathBuf, root: &Path) -> Program {
        let origin = match path.starts_with(root) {
            true => Origin::Fetched,
            false => Origin::FetchedJars,
        };
        Program {
            kind,
            path,
            library_path: library_folders(root),
            class_path: class_path(kind, root),
            root: Some(root.to_owned()),
            origin,
        }
    }

    /// Returns the version alone, such as `7.0.15`.
    ///
    /// # Errors
    ///
    /// When the program does not run, or does not print its version in the form known for it.
    pub fn version(&self) -> Result<String> {
        let flag = match self.kind {
            ServerKind::Nginx => "-v",
            ServerKind::ZooKeeper => "org.apache.zookeeper.version.VersionInfoMain",
            _ => "--version",
        };
        let said = self.ask(flag)?;
        version_in(self.kind, &said).map(str::to_owned).with_context(|| {
            format!(
                "`{} {flag}` printed no version but: {}",
                self.path.display(),
                said.trim()
            )
        })
    }

    /// Whether its jars exist; any other program has none.
    pub(crate) fn is_whole(&self) -> bool {
        // Their packages depend on each other, so the first jar stands for all.
        self.class_path.first().is_none_or(|jar| jar.is_file())
    }

    /// Returns the first arguments of its command line.
    pub(crate) fn arguments(&self) -> Vec<OsString> {
        if self.class_path.is_empty() {
            return Vec::new();
        }
        // A folder with a colon in its name cannot be written there; Java then reports the failure.
        vec!["-cp".into(), std::env::join_paths(&self.class_path).unwrap_or_default()]
    }

    /// Returns the environment in which the loader of a fetched program finds its libraries.
    pub(crate) fn environment(&self) -> Vec<(OsString, OsString)> {
        if self.library_path.is_empty() {
            return Vec::new();
        }
        let inherited = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let folders = self
            .library_path
            .iter()
            .cloned()
            .chain(std::env::split_paths(&inherited));
        // A folder with a colon in its name cannot be written there; the loader then reports the failure.
        let joined = std::env::join_paths(folders).unwrap_or_default();
        vec![("LD_LIBRARY_PATH".into(), joined)]
    }

    /// Returns all output of the program for one flag; nginx prints on stderr.
    pub(crate) fn ask(&self, flag: &str) -> Result<String> {
        let output = Command::new(&self.path)
            .args(self.arguments())
            .arg(flag)
            .envs(self.environment())
            .output()
            .with_context(|| format!("could not run `{} {flag}`; does it start by hand?", self.path.display()))?;
        let both = [output.stdout, output.stderr].concat();
        Ok(String::from_utf8_lossy(&both).into_owned())
    }
}

/// Returns the folders of installed programs.
pub(crate) fn folders_of_programs() -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Servers live in sbin, which is not on the PATH of an ordinary user.
    let sbin = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    let others = sbin.into_iter().chain(folders_of_postgres(Path::new("/")));
    std::env::split_paths(&path).chain(others).collect()
}

/// Returns the folders in which Debian and Ubuntu keep each version of PostgreSQL, the highest one first.
pub(crate) fn folders_of_postgres(root: &Path) -> Vec<PathBuf> {
    let entries = root.join("usr/lib/postgresql").read_dir().into_iter().flatten();
    let numbered = entries.flatten().filter_map(|entry| {
        let version: u32 = entry.file_name().to_str()?.parse().ok()?;
        Some((version, entry.path().join("bin")))
    });
    let mut folders: Vec<_> = numbered.collect();
    folders.sort();
    folders.into_iter().rev().map(|(_, folder)| folder).collect()
}

fn version_in(kind: ServerKind, said: &str) -> Option<&str> {
    let (before, after) = match kind {
        ServerKind::Redis => (" v=", " "),
        ServerKind::MariaDb => ("Ver ", "-"),
        ServerKind::Nginx => ("nginx/", " "),
        ServerKind::Postgres => ("(PostgreSQL) ", " "),
        ServerKind::ZooKeeper => ("version ", " "),
        ServerKind::Etcd => ("etcd Version: ", "\n"),
    };
    let rest = said.split_once(before)?.1;
    rest.split(after).next()?.split_whitespace().next()
}

fn class_path(kind: ServerKind, root: &Path) -> Vec<PathBuf> {
    let jars = kind.jars().iter();
    jars.map(|jar| root.join("usr/share/java").join(format!("{jar}.jar")))
        .collect()
}

fn library_folders(root: &Path) -> Vec<PathBuf> {
    // Older packages keep some libraries in /lib, which a real system merges into /usr/lib.
    let entries = ["usr/lib", "lib"]
        .into_iter()
        .filter_map(|lib| root.join(lib).read_dir().ok());
    // Named after the architecture, but not as Rust names it: arm-linux-gnueabihf, i386-linux-gnu.
    let of_architecture = |path: &PathBuf| path.to_string_lossy().contains("-linux-gnu") && path.is_dir();
    entries
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(of_architecture)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installed_java_that_runs_fetched_jars_is_not_in_the_cache() {
        let root = Path::new("/cache/packages-zookeeper");
        let origin = |path: &str| Program::unpacked(ServerKind::ZooKeeper, path.into(), root).origin;
        assert_eq!(origin("/usr/bin/java"), Origin::FetchedJars);
        assert_eq!(origin("/cache/packages-zookeeper/usr/bin/java"), Origin::Fetched);
    }

    #[test]
    fn the_highest_version_of_postgresql_comes_first() {
        let root = tempfile::tempdir().unwrap();
        let folder = |version: &str| root.path().join("usr/lib/postgresql").join(version).join("bin");
        for version in ["9", "15", "common", "17"] {
            std::fs::create_dir_all(folder(version)).unwrap();
        }
        assert_eq!(folders_of_postgres(root.path()), ["17", "15", "9"].map(folder));
    }

    #[test]
    fn each_program_s_own_way_to_say_its_version_is_understood() {
        let said = [
            (
                ServerKind::Redis,
                "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64\n",
                "7.0.15",
            ),
            (ServerKind::Redis, "Valkey server v=8.1.1 sha=00000000:0\n", "8.1.1"),
            (
                ServerKind::MariaDb,
                "mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian-linux-gnu\n",
                "10.11.19",
            ),
            (ServerKind::Nginx, "nginx version: nginx/1.22.1\n", "1.22.1"),
            (ServerKind::Nginx, "nginx version: nginx/1.18.0 (Ubuntu)\n", "1.18.0"),
            (
                ServerKind::Postgres,
                "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n",
                "15.18",
            ),
            (ServerKind::Postgres, "postgres (PostgreSQL) 18.0\n", "18.0"),
            (
                ServerKind::ZooKeeper,
                "Apache ZooKeeper, version 3.8.0 2024-12-29 17:54 UTC\n",
                "3.8.0",
            ),
            (
                ServerKind::Etcd,
                "etcd Version: 3.4.23\nGit SHA: Not provided\nGo Version: go1.19.8\n",
                "3.4.23",
            ),
        ];
        for (kind, text, version) in said {
            assert_eq!(version_in(kind, text), Some(version));
        }
        assert_eq!(version_in(ServerKind::Redis, "Segmentation fault"), None);
    }
}
