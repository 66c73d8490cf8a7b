//! A replica of Redis that is cut off from its primary and takes its place.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::redis::IntoConnectionInfo;
use anyhow::{Context, Result};

use super::{LIMIT, NAME, Operator, configure, data, socket, start, until};
use crate::address;
use crate::link::Link;
use crate::locate::locate;
use crate::server_kind::ServerKind;
use crate::service::Service;

/// Its name until it takes the place of its primary.
pub(super) const REPLICA: &str = "replica";

/// A replica that follows its primary. It stops on drop where it was started here.
pub struct RedisReplica {
    pair: Pair,
    link: Option<Link>,
}

/// A replica that was promoted while its primary still serves: a partition. It stops on drop where it was started here.
pub struct Failover(Pair);

/// A primary and its replica.
struct Pair {
    replica: Replica,
    primary_url: String,
    replica_url: String,
}

enum Replica {
    /// A child of this process, with its folder.
    Here(Service, PathBuf),
    /// In a container.
    Elsewhere(Arc<Service>),
}

impl RedisReplica {
    /// Starts it and waits until it has caught up.
    pub(crate) fn start(folder: &Path) -> Result<RedisReplica> {
        // The primary was started from it, so it is there.
        let program = locate(ServerKind::Redis, false)?;
        let service = start(&program, folder, REPLICA)?;
        service.wait_ready(LIMIT)?;
        let link = Link::to(socket(folder, NAME))?;
        let port = link.port;
        let replica = RedisReplica {
            pair: Pair {
                replica: Replica::Here(service, folder.to_owned()),
                primary_url: address::redis(&socket(folder, NAME)),
                replica_url: address::redis(&socket(folder, REPLICA)),
            },
            link: Some(link),
        };
        replica.follow("127.0.0.1", port)
    }

    /// Starts another Redis in a container anew, lets it follow this one and waits until it has caught up.
    pub(crate) fn elsewhere(primary: &Service, spare: Arc<Service>) -> Result<RedisReplica> {
        spare.restart()?;
        spare.wait_ready(LIMIT)?;
        let (primary_url, replica_url) = (primary.redis_url()?, spare.redis_url()?);
        let at = primary_url.as_str().into_connection_info()?;
        if let Some(password) = at.redis_settings().password() {
            Operator::at(&replica_url)?.set("masterauth", password)?;
        }
        let ::redis::ConnectionAddr::Tcp(host, port) = at.addr().clone() else {
            anyhow::bail!("{} is reached by no port", primary.name());
        };
        let pair = Pair {
            replica: Replica::Elsewhere(spare),
            primary_url,
            replica_url,
        };
        RedisReplica { pair, link: None }.follow(&host, port)
    }

    fn follow(self, host: &str, port: u16) -> Result<RedisReplica> {
        self.pair.replica()?.execute("REPLICAOF", &[host, &port.to_string()])?;
        self.pair.catch_up()?;
        Ok(self)
    }

    /// Waits until it has caught up, cuts the connection to its primary, and promotes it. Later writes never reach it.
    ///
    /// # Errors
    ///
    /// When it does not catch up within some seconds, or does not answer.
    pub fn partition(self) -> Result<Failover> {
        self.pair.catch_up()?;
        drop(self.link);
        self.pair.replica()?.execute("REPLICAOF", &["NO", "ONE"])?;
        Ok(Failover(self.pair))
    }
}

impl Pair {
    fn primary(&self) -> Result<Operator> {
        Operator::at(&self.primary_url)
    }

    fn replica(&self) -> Result<Operator> {
        Operator::at(&self.replica_url)
    }

    fn catch_up(&self) -> Result<()> {
        let (mut primary, mut replica) = (self.primary()?, self.replica()?);
        until("the replica has not caught up", || {
            let link: String = replica.read("replication", "master_link_status")?;
            let offset: u64 = replica.read("replication", "slave_repl_offset")?;
            Ok(link == "up" && offset == primary.read::<u64>("replication", "master_repl_offset")?)
        })
    }

    /// Returns how many bytes of writes the replica lacks.
    fn lacks(&self) -> Result<u64> {
        let offset = |mut of: Operator| of.read::<u64>("replication", "master_repl_offset");
        Ok(offset(self.primary()?)?.saturating_sub(offset(self.replica()?)?))
    }
}

impl Failover {
    /// Kills `primary` and lets the promoted one serve at its address, as the process of that service. Returns how many bytes of
    /// writes that loses.
    pub(crate) fn complete(self, primary: &Service) -> Result<u64> {
        let lost = self.0.lacks()?;
        match self.0.replica {
            Replica::Here(promoted, folder) => {
                primary.kill()?;
                take_place(&folder)?;
                primary.adopt(promoted)?;
            }
            Replica::Elsewhere(promoted) => primary.change_places(&promoted)?,
        }
        primary.wait_ready(LIMIT)?;
        Ok(lost)
    }
}

/// Gives the promoted Redis the folder and the socket of its primary.
fn take_place(folder: &Path) -> Result<()> {
    let kept = data(folder, NAME);
    let taken = fs::remove_dir_all(&kept)
        .and_then(|()| fs::rename(data(folder, REPLICA), &kept))
        .and_then(|()| fs::rename(socket(folder, REPLICA), socket(folder, NAME)));
    taken.context("the promoted Redis cannot take the place of its primary")?;
    // The promoted one was started without an append-only file.
    configure(folder, NAME, "no")?;
    Ok(())
}
