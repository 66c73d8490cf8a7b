//! Redis on a private socket, with nothing kept on disk unless it is told to.

mod disk;
mod link;
mod replica;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use ::redis::{Client, Connection, FromRedisValue, InfoDict, cmd};
use anyhow::{Context, Result, bail};

pub(crate) use self::disk::keep_on_disk;
pub use self::replica::{Failover, RedisReplica};
use crate::address;
use crate::clock::Clock;
use crate::launch::Launch;
use crate::program::Program;
use crate::ready::Ready;
use crate::service::Service;

/// The one that every shop sells from.
pub(crate) const NAME: &str = "redis";

/// For an answer, for a sale's few keys to be written to disk, and for a replica to come as far as its primary.
const LIMIT: Duration = Duration::from_secs(10);
/// Between two questions.
const POLL: Duration = Duration::from_millis(5);

pub(crate) fn socket(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.sock"))
}

/// Where it keeps what it keeps on disk.
fn data(folder: &Path, name: &str) -> PathBuf {
    folder.join(name)
}

/// A restart comes back empty: without persistence this is what a crash of Redis means.
pub(crate) fn start(program: &Program, folder: &Path, name: &str) -> Result<Service> {
    let data = data(folder, name);
    fs::create_dir_all(&data).with_context(|| format!("could not create {}", data.display()))?;
    let configuration = configure(folder, name, "no")?;
    // A replica that takes the place of its primary goes on by the same clock.
    let clock = if name == replica::REPLICA { NAME } else { name };
    let launch = Launch::from(program)
        .arg(configuration)
        .clock(Clock::new(folder, clock)?);
    Service::start(name, launch, Ready::Redis(socket(folder, name)), folder)
}

/// Writes what it is to read when it starts: `yes` where it is to bring back its append-only file then, or `no`.
fn configure(folder: &Path, name: &str, append_only: &str) -> Result<PathBuf> {
    let configuration = folder.join(format!("{name}.conf"));
    let lines = [
        "port 0".to_owned(),
        format!("unixsocket \"{}\"", socket(folder, name).display()),
        "unixsocketperm 700".to_owned(),
        "save \"\"".to_owned(),
        format!("appendonly {append_only}"),
        "appendfsync always".to_owned(),
        // A replica gets its first copy at once, and leaves no file behind that a restart would read.
        "repl-diskless-sync yes".to_owned(),
        "repl-diskless-sync-delay 0".to_owned(),
        "rdb-del-sync-files yes".to_owned(),
        format!("dir \"{}\"", data(folder, name).display()),
    ];
    fs::write(&configuration, lines.join("\n") + "\n")
        .with_context(|| format!("could not write {}", configuration.display()))?;
    Ok(configuration)
}

/// A connection of an operator.
struct Operator(Connection);

impl Operator {
    fn of(socket: &Path) -> Result<Operator> {
        let connection = Client::open(address::redis(socket))?.get_connection_with_timeout(LIMIT)?;
        connection.set_read_timeout(Some(LIMIT))?;
        Ok(Operator(connection))
    }

    fn say(&mut self, command: &str, arguments: &[&str]) -> Result<()> {
        let said = cmd(command).arg(arguments).exec(&mut self.0);
        said.with_context(|| format!("Redis refused {command} {}", arguments.join(" ")))
    }

    /// A field of INFO.
    fn read<T: FromRedisValue>(&mut self, section: &str, field: &str) -> Result<T> {
        let info: InfoDict = cmd("INFO").arg(section).query(&mut self.0)?;
        info.get(field)
            .with_context(|| format!("Redis does not say its {field}"))
    }
}

/// Asks until it is so.
fn until(what: &str, mut is_so: impl FnMut() -> Result<bool>) -> Result<()> {
    let begun = Instant::now();
    while !is_so()? {
        if begun.elapsed() >= LIMIT {
            bail!("{what} after {LIMIT:?}");
        }
        thread::sleep(POLL);
    }
    Ok(())
}
