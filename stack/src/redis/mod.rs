//! Redis on a private socket, without persistence unless it is switched on (`cluster`: several at ports).

pub(crate) mod cluster;
mod disk;
mod eviction;
mod memory_limit;
mod replica;

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use ::redis::{Client, Connection, FromRedisValue, InfoDict, cmd};
use anyhow::{Context, Result, bail};

pub use self::cluster::{ClusterFailover, ClusterPartition, SlotMigration};
pub(crate) use self::disk::{keep_on_disk, sync_every_second, wait_until_written};
pub use self::eviction::Lease;
pub use self::memory_limit::{AtLimit, MemoryLimit};
pub use self::replica::{Failover, RedisReplica};
use crate::clock::Clock;
use crate::disk::Disk;
use crate::launch::Launch;
use crate::program::Program;
use crate::ready::Ready;
use crate::service::Service;
use crate::unsynced::Unsynced;

/// The name of the store of every shop.
pub(crate) const NAME: &str = "redis";

/// For an answer, for writing a sale's few keys to disk, and for a replica to catch up.
const LIMIT: Duration = Duration::from_secs(10);
/// Between two checks.
const POLL: Duration = Duration::from_millis(5);

pub(crate) fn socket(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.sock"))
}

/// Returns its data folder.
fn data(folder: &Path, name: &str) -> PathBuf {
    folder.join(name)
}

/// Starts Redis. After a restart it is empty, as a Redis without persistence is after a crash.
pub(crate) fn start(program: &Program, folder: &Path, name: &str) -> Result<Service> {
    let data = data(folder, name);
    fs::create_dir_all(&data).with_context(|| format!("could not create {}", data.display()))?;
    let configuration = configure(folder, name, "no")?;
    // A promoted replica keeps the clock of its primary.
    let clock = if name == replica::REPLICA { NAME } else { name };
    let launch = Launch::from(program)
        .arg(configuration)
        .clock(Clock::new(folder, clock)?)
        .disk(Disk::new(folder, name, &data)?)
        .unsynced(Unsynced::new(folder, name, &data)?);
    Service::start(name, launch, Ready::Redis(socket(folder, name)), folder)
}

/// Writes its configuration: with `yes` a start loads the append-only file, with `no` it does not.
fn configure(folder: &Path, name: &str, append_only: &str) -> Result<PathBuf> {
    let mut lines = vec![
        "port 0".to_owned(),
        format!("unixsocket \"{}\"", socket(folder, name).display()),
        "unixsocketperm 700".to_owned(),
        format!("appendonly {append_only}"),
        "appendfsync always".to_owned(),
    ];
    lines.extend(replication());
    write_configuration(folder, name, &lines)
}

/// The settings by which a replica gets its first copy at once, and no server leaves a file behind that a restart would read.
fn replication() -> [String; 4] {
    [
        "save \"\"",
        "repl-diskless-sync yes",
        "repl-diskless-sync-delay 0",
        "rdb-del-sync-files yes",
    ]
    .map(str::to_owned)
}

fn write_configuration(folder: &Path, name: &str, lines: &[String]) -> Result<PathBuf> {
    let configuration = folder.join(format!("{name}.conf"));
    let data = format!("dir \"{}\"\n", data(folder, name).display());
    fs::write(&configuration, lines.join("\n") + "\n" + &data)
        .with_context(|| format!("could not write {}", configuration.display()))?;
    Ok(configuration)
}

/// A connection for administration.
struct Operator(Connection);

impl Operator {
    fn at(url: &str) -> Result<Operator> {
        let connection = Client::open(url)?.get_connection_with_timeout(LIMIT)?;
        connection.set_read_timeout(Some(LIMIT))?;
        Ok(Operator(connection))
    }

    /// Changes a setting of CONFIG. An error does not repeat the value: it may be a password.
    fn set(&mut self, setting: &str, value: &str) -> Result<()> {
        let set = cmd("CONFIG").arg("SET").arg(setting).arg(value).exec(&mut self.0);
        set.with_context(|| format!("Redis refused CONFIG SET {setting}"))
    }

    fn execute(&mut self, command: &str, arguments: &[&str]) -> Result<()> {
        let done = cmd(command).arg(arguments).exec(&mut self.0);
        done.with_context(|| format!("Redis refused {command} {}", arguments.join(" ")))
    }

    fn ask<T: FromRedisValue>(&mut self, command: &str, arguments: &[&str]) -> Result<T> {
        let answer = cmd(command).arg(arguments).query(&mut self.0);
        answer.with_context(|| format!("Redis refused {command} {}", arguments.join(" ")))
    }

    /// Returns a field of INFO.
    fn read<T: FromRedisValue>(&mut self, section: &str, field: &str) -> Result<T> {
        self.read_from("INFO", section, field)
    }

    /// Returns a field of the answer to a command that answers as INFO does.
    fn read_from<T: FromRedisValue>(&mut self, command: &str, section: &str, field: &str) -> Result<T> {
        let info: InfoDict = self.ask(command, &[section])?;
        info.get(field)
            .with_context(|| format!("{command} {section} of Redis has no {field}"))
    }
}

/// Repeats the check until it is true.
fn until(what: &str, is_done: impl FnMut() -> Result<bool>) -> Result<()> {
    until_within(LIMIT, what, is_done)
}

fn until_within(limit: Duration, what: &str, mut is_done: impl FnMut() -> Result<bool>) -> Result<()> {
    let begun = Instant::now();
    while !is_done()? {
        if begun.elapsed() >= limit {
            bail!("{what} after {limit:?}");
        }
        thread::sleep(POLL);
    }
    Ok(())
}
