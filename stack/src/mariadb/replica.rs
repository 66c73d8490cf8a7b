//! An asynchronous replica of MariaDB that is cut off from its primary and takes its place.
//!
//! No MariaDB writes a binary log but the primary of such a replica: it would slow down every other sale. So the primary is killed
//! and started again with one, and the replica begins with a copy of its data folder.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::operator::Operator;
use super::{NAME, content, launch, ready, socket};
use crate::clock::Clock;
use crate::link::Link;
use crate::locate::locate;
use crate::server_kind::ServerKind;
use crate::service::Service;

/// The names of a replica: of its socket until it takes the place of its primary, and of its data folder for good. One of them
/// is free, because there is one replica at a time.
const REPLICAS: [&str; 2] = ["replica-sql-1", "replica-sql-2"];

/// For a start, and for the replica to catch up.
const LIMIT: Duration = Duration::from_secs(10);
/// Between two checks.
const POLL: Duration = Duration::from_millis(5);

/// The first file of the binary log, and its first position.
const LOG: &str = "binlog";
const FIRST_FILE: &str = "binlog.000001";
const FIRST_POSITION: u64 = 4;

/// A replica keeps its position in this table, which a server without account tables lacks.
const POSITION_TABLE: &str = "create table if not exists mysql.gtid_slave_pos (domain_id int unsigned not null, \
     sub_id bigint unsigned not null, server_id int unsigned not null, seq_no bigint unsigned not null, \
     primary key (domain_id, sub_id)) engine=innodb;";

/// A replica that follows its primary. It stops on drop.
pub struct MariaDbReplica {
    service: Service,
    link: Link,
    folder: PathBuf,
}

/// A replica that was promoted while its primary still serves. It stops on drop.
pub struct MariaDbFailover {
    promoted: Service,
    /// The last transaction that reached it.
    last: u64,
    folder: PathBuf,
}

impl MariaDbReplica {
    /// Kills `primary` and lets it serve again with a binary log, and a replica behind it. Waits until that has caught up.
    pub(crate) fn start(primary: &Service, folder: &Path) -> Result<MariaDbReplica> {
        // The primary was started from it, so it is there.
        let program = locate(ServerKind::MariaDb, false)?;
        primary.kill()?;
        let free = REPLICAS.iter().find(|name| !content(folder, name).exists());
        let name = *free.context("there is a replica of MariaDB already")?;
        let copy = content(folder, name);
        copy_folder(&content(folder, NAME), &copy).with_context(|| format!("could not copy to {}", copy.display()))?;
        let logging = launch(&program, folder, NAME, &[])?
            .arg("--server-id=1")
            .arg(format!("--log-bin={LOG}"))
            .arg("--binlog-format=row")
            .clock(Clock::new(folder, NAME)?);
        primary.adopt(Service::start(NAME, logging, ready(folder, NAME), folder)?)?;
        let follows = launch(
            &program,
            folder,
            name,
            &["create database if not exists mysql;", POSITION_TABLE],
        )?;
        // A promoted replica keeps the clock of its primary.
        let follows = follows.arg("--server-id=2").clock(Clock::new(folder, NAME)?);
        let service = Service::start(name, follows, ready(folder, name), folder)?;
        primary.wait_ready(LIMIT)?;
        service.wait_ready(LIMIT)?;
        let link = Link::to(socket(folder, NAME))?;
        let follow = format!(
            "change master to master_host = '127.0.0.1', master_port = {}, master_user = 'root', master_ssl = 0, \
             master_log_file = '{FIRST_FILE}', master_log_pos = {FIRST_POSITION}",
            link.port
        );
        let replica = MariaDbReplica {
            service,
            link,
            folder: folder.to_owned(),
        };
        replica.operator()?.execute(&[&follow, "start slave"])?;
        replica.catch_up()?;
        Ok(replica)
    }

    /// Waits until it has caught up, cuts the connection to its primary, and promotes it. Later commits never reach it.
    ///
    /// # Errors
    ///
    /// When it does not catch up within some seconds, or does not answer.
    pub fn partition(self) -> Result<MariaDbFailover> {
        self.catch_up()?;
        let mut replica = self.operator()?;
        let MariaDbReplica { service, link, folder } = self;
        drop(link);
        replica.execute(&["stop slave"])?;
        let last = replica.replicated()?;
        // The next primary and its replica number their transactions from 1 again.
        replica.execute(&["reset slave all", "set global gtid_slave_pos = ''"])?;
        Ok(MariaDbFailover {
            promoted: service,
            last,
            folder,
        })
    }

    fn catch_up(&self) -> Result<()> {
        let mut primary = Operator::of(&socket(&self.folder, NAME))?;
        let mut replica = self.operator()?;
        let begun = Instant::now();
        while replica.replicated()? != primary.logged()? {
            if begun.elapsed() >= LIMIT {
                bail!("the replica of MariaDB has not caught up after {LIMIT:?}");
            }
            thread::sleep(POLL);
        }
        Ok(())
    }

    fn operator(&self) -> Result<Operator> {
        Operator::of(&socket(&self.folder, self.service.name()))
    }
}

impl MariaDbFailover {
    /// Kills `primary` and lets the promoted one serve at its address, as the process of that service. Returns how many
    /// transactions that loses.
    pub(crate) fn complete(self, primary: &Service) -> Result<u64> {
        let MariaDbFailover { promoted, last, folder } = self;
        let lost = Operator::of(&socket(&folder, NAME))?.logged()?.saturating_sub(last);
        primary.kill()?;
        let taken = take_place(&folder, promoted.name());
        taken.context("the promoted MariaDB cannot take the place of its primary")?;
        // A restart runs the command that the primary had before it wrote a binary log.
        primary.adopt(promoted)?;
        primary.wait_ready(LIMIT)?;
        Ok(lost)
    }
}

/// Gives the socket of the promoted server the name of the primary's, and leads from the primary's data folder to its own:
/// MariaDB goes on looking for its files there by name.
fn take_place(folder: &Path, promoted: &str) -> io::Result<()> {
    let kept = content(folder, NAME);
    fs::remove_dir_all(fs::canonicalize(&kept)?)?;
    if kept.is_symlink() {
        fs::remove_file(&kept)?;
    }
    symlink(content(folder, promoted), &kept)?;
    fs::rename(socket(folder, promoted), socket(folder, NAME))
}

/// Copies the data folder of a MariaDB that is not running.
fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy_folder(&from, &to)?;
        } else {
            fs::copy(&from, &to)?;
        }
    }
    Ok(())
}
