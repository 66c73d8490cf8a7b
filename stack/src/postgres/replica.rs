//! An asynchronous replica of PostgreSQL that is promoted and takes the place of its primary.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::operator::Operator;
use super::{NAME, PORT, USER, beside, data, launch, ready, socket};
use crate::clock::Clock;
use crate::launch::Launch;
use crate::locate::locate;
use crate::program::Program;
use crate::ready::Ready;
use crate::server_kind::ServerKind;
use crate::service::Service;

/// The names of a replica and of its data folder, with its port until it takes the place of its primary. One of them is free,
/// because there is one replica at a time.
const REPLICAS: [(&str, u16); 2] = [("replica-pg-1", PORT + 1), ("replica-pg-2", PORT + 2)];

/// For the copy, for a start, and for the replica to catch up.
const LIMIT: Duration = Duration::from_secs(20);
/// Between two checks.
const POLL: Duration = Duration::from_millis(5);

/// A replica that follows its primary. It stops on drop.
pub struct PgReplica(Server);

/// A replica that was promoted while its primary still serves. It stops on drop.
pub struct PgFailover {
    promoted: Server,
    /// Where the last record ended that reached it.
    last: i64,
}

struct Server {
    service: Service,
    port: u16,
    program: Program,
    folder: PathBuf,
}

impl PgReplica {
    /// Starts a replica of the server at the usual port, and waits until it has caught up.
    pub(crate) fn start(folder: &Path) -> Result<PgReplica> {
        // The primary was started from it, so it is there.
        let program = locate(ServerKind::Postgres, false)?;
        let free = REPLICAS.into_iter().find(|(name, _)| !data(folder, name).exists());
        let (name, port) = free.context("there is a replica of PostgreSQL already")?;
        let copy = Launch::from(&program)
            .program(beside(&program, "pg_basebackup")?)
            .arg("-h")
            .arg(folder)
            .args(["-p", &PORT.to_string(), "-U", USER, "-D"])
            .arg(data(folder, name))
            // The copy follows the server that it was made of.
            .args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync"])
            .without_root();
        Service::start(format!("{name}-copy"), copy, Ready::Ended, folder)?.wait_ready(LIMIT)?;
        // A promoted replica keeps the clock of its primary.
        let follows = launch(&program, folder, name, port).clock(Clock::new(folder, NAME)?);
        let service = Service::start(name, follows, ready(folder, port), folder)?;
        service.wait_ready(LIMIT)?;
        let replica = PgReplica(Server {
            service,
            port,
            program,
            folder: folder.to_owned(),
        });
        replica.catch_up()?;
        Ok(replica)
    }

    /// Waits until it has caught up, and promotes it. Later commits never reach it.
    ///
    /// # Errors
    ///
    /// When it does not catch up within some seconds, or does not answer.
    pub fn partition(self) -> Result<PgFailover> {
        self.catch_up()?;
        let mut replica = self.0.operator()?;
        replica.promote()?;
        Ok(PgFailover {
            last: replica.replicated()?,
            promoted: self.0,
        })
    }

    fn catch_up(&self) -> Result<()> {
        let logged = Operator::of(&socket(&self.0.folder, PORT))?.logged()?;
        let mut replica = self.0.operator()?;
        let begun = Instant::now();
        while replica.replicated()? < logged {
            if begun.elapsed() >= LIMIT {
                bail!("the replica of PostgreSQL has not caught up after {LIMIT:?}");
            }
            thread::sleep(POLL);
        }
        Ok(())
    }
}

impl Server {
    fn operator(&self) -> Result<Operator> {
        Operator::of(&socket(&self.folder, self.port))
    }
}

impl PgFailover {
    /// Kills `primary` and lets the promoted one serve at its address, as the process of that service. Returns how many
    /// transactions that loses: the commits in the log of the primary that never reached the other.
    pub(crate) fn complete(self, primary: &Service) -> Result<u64> {
        let PgFailover { promoted, last } = self;
        let Server {
            service,
            port,
            program,
            folder,
        } = promoted;
        let timeline = Operator::of(&socket(&folder, PORT))?.timeline()?;
        primary.kill()?;
        let lost = commits_since(&program, &data(&folder, NAME), timeline, last)?;
        let taken = take_place(&folder, service.name(), port);
        taken.context("the promoted PostgreSQL cannot take the place of its primary")?;
        primary.adopt(service)?;
        primary.wait_ready(LIMIT)?;
        Ok(lost)
    }
}

/// Counts the commits in the log of a server that has ended, from that place on.
fn commits_since(program: &Program, data: &Path, timeline: i64, from: i64) -> Result<u64> {
    let mut dump = Command::new(beside(program, "pg_waldump")?);
    dump.arg("-p")
        .arg(data.join("pg_wal"))
        .args(["-t", &timeline.to_string(), "-r", "Transaction", "-s"])
        .arg(format!("{:X}/{:X}", from >> 32, from & 0xffff_ffff))
        .envs(program.environment());
    // It always ends with an error: where the log ends, it finds no further record.
    let said = dump.output().context("could not run pg_waldump")?;
    let records = String::from_utf8_lossy(&said.stdout);
    Ok(records.lines().filter(|line| line.contains("desc: COMMIT")).count() as u64)
}

/// Gives the socket of the promoted server the name of the primary's, and leads from the primary's data folder to its own: a
/// restart of the primary looks there.
fn take_place(folder: &Path, promoted: &str, port: u16) -> io::Result<()> {
    let kept = data(folder, NAME);
    fs::remove_dir_all(fs::canonicalize(&kept)?)?;
    if kept.is_symlink() {
        fs::remove_file(&kept)?;
    }
    symlink(data(folder, promoted), &kept)?;
    fs::rename(socket(folder, port), socket(folder, PORT))
}
