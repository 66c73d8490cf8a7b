//! MariaDB on a private socket and an empty data folder.

mod operator;
mod replica;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use nix::unistd::geteuid;

pub use self::replica::{MariaDbFailover, MariaDbReplica};
use crate::clock::Clock;
use crate::disk::Disk;
use crate::launch::Launch;
use crate::program::Program;
use crate::ready::Ready;
use crate::service::Service;
use crate::unsynced::Unsynced;

/// It takes a fifth of a second; this is for a slow disk.
const BOOTSTRAP_LIMIT: Duration = Duration::from_secs(30);

/// The name of the store of every shop.
pub(crate) const NAME: &str = "mariadb";

pub(crate) const DATABASE: &str = "oversell";

pub(crate) fn socket(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.sock"))
}

/// A restart keeps what was committed: the data folder stays.
pub(crate) fn start(program: &Program, folder: &Path, name: &str) -> Result<Service> {
    let content = content(folder, name);
    fs::create_dir(&content).with_context(|| format!("could not create {}", content.display()))?;
    bootstrap(&with_content(program, folder, &content), folder, name)?;
    let launch = launch(program, folder, name, &[])?
        .clock(Clock::new(folder, name)?)
        .disk(Disk::new(folder, name, &content)?)
        .unsynced(Unsynced::new(folder, name, &content)?);
    Service::start(name, launch, ready(folder, name), folder)
}

/// Returns its data folder.
fn content(folder: &Path, name: &str) -> PathBuf {
    folder.join(name)
}

fn ready(folder: &Path, name: &str) -> Ready {
    Ready::MariaDb {
        socket: socket(folder, name),
        database: content(folder, name).join(DATABASE),
    }
}

/// Returns the command of a server whose data folder is filled. `init` are more statements that it runs at every start.
fn launch(program: &Program, folder: &Path, name: &str, init: &[&str]) -> Result<Launch> {
    let file = folder.join(format!("{name}.sql"));
    let create = format!("create database if not exists {DATABASE};");
    let statements = [&[create.as_str()], init].concat().join("\n");
    fs::write(&file, statements + "\n").with_context(|| format!("could not write {}", file.display()))?;
    let launch = with_content(program, folder, &content(folder, name))
        .arg(option("--socket", &socket(folder, name)))
        .arg(option("--init-file", &file))
        // The private folder around the socket keeps other users out.
        .arg("--skip-networking")
        // MariaDB 11 writes it through a map, which no journal of unsynced writes sees. Only a transaction over two engines needs it.
        .arg(option("--log-tc", &folder.join(format!("{name}.tc"))))
        // Every instance brings its own pool.
        .args(["--max-connections=1000", "--character-set-server=utf8mb4"]);
    Ok(launch)
}

fn with_content(program: &Program, folder: &Path, content: &Path) -> Launch {
    let mut launch = Launch::from(program)
        // MariaDB wants it first. The machine's own configuration must not apply here.
        .arg("--no-defaults")
        .arg(option("--datadir", content))
        .arg(option("--tmpdir", folder))
        // Creating the account tables would take longer than the whole start.
        .arg("--skip-grant-tables")
        // The tables that would hold these statistics are not there either.
        .arg("--innodb-stats-persistent=0")
        .arg("--innodb-buffer-pool-size=64M")
        // A write that io_uring has accepted may reach the file after the process was killed: the next one reads there then.
        .arg("--innodb-use-native-aio=0");
    if let Some(root) = &program.root {
        launch = launch
            .arg(option("--basedir", &root.join("usr")))
            .arg(option("--lc-messages-dir", &root.join("usr/share/mysql")));
    }
    if geteuid().is_root() {
        // MariaDB refuses to run as root without it.
        launch = launch.arg("--user=root");
    }
    launch
}

/// Fills the empty data folder and ends. A server that fills it during its own start writes the first page about a
/// second later; killed before that, it never starts again.
fn bootstrap(launch: &Launch, folder: &Path, name: &str) -> Result<()> {
    let launch = launch.clone().arg("--bootstrap");
    Service::start(format!("{name}-bootstrap"), launch, Ready::Ended, folder)?.wait_ready(BOOTSTRAP_LIMIT)
}

fn option(name: &str, path: &Path) -> OsString {
    let mut option = OsString::from(name);
    option.push("=");
    option.push(path);
    option
}
