//! A replica of Redis that is cut off from its primary and takes its place.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{LIMIT, NAME, Operator, configure, data, socket, start, until};
use crate::link::Link;
use crate::locate::locate;
use crate::server_kind::ServerKind;
use crate::service::Service;

/// Its name until it takes the place of its primary.
pub(super) const REPLICA: &str = "replica";

/// A replica that follows its primary. It stops on drop.
pub struct RedisReplica {
    service: Service,
    link: Link,
    folder: PathBuf,
}

/// A replica that was promoted while its primary still serves: a partition. It stops on drop.
pub struct Failover {
    promoted: Service,
    folder: PathBuf,
}

impl RedisReplica {
    /// Starts it and waits until it has caught up.
    pub(crate) fn start(folder: &Path) -> Result<RedisReplica> {
        // The primary was started from it, so it is there.
        let program = locate(ServerKind::Redis, false)?;
        let service = start(&program, folder, REPLICA)?;
        service.wait_ready(LIMIT)?;
        let link = Link::to(socket(folder, NAME))?;
        let port = link.port.to_string();
        let replica = RedisReplica {
            service,
            link,
            folder: folder.to_owned(),
        };
        Operator::of(&socket(folder, REPLICA))?.execute("REPLICAOF", &["127.0.0.1", &port])?;
        replica.catch_up()?;
        Ok(replica)
    }

    /// Waits until it has caught up, cuts the connection to its primary, and promotes it. Later writes never reach it.
    ///
    /// # Errors
    ///
    /// When it does not catch up within some seconds, or does not answer.
    pub fn partition(self) -> Result<Failover> {
        self.catch_up()?;
        let RedisReplica { service, link, folder } = self;
        drop(link);
        Operator::of(&socket(&folder, REPLICA))?.execute("REPLICAOF", &["NO", "ONE"])?;
        Ok(Failover {
            promoted: service,
            folder,
        })
    }

    fn catch_up(&self) -> Result<()> {
        let mut primary = Operator::of(&socket(&self.folder, NAME))?;
        let mut replica = Operator::of(&socket(&self.folder, REPLICA))?;
        until("the replica has not caught up", || {
            let link: String = replica.read("replication", "master_link_status")?;
            let offset: u64 = replica.read("replication", "slave_repl_offset")?;
            Ok(link == "up" && offset == primary.read::<u64>("replication", "master_repl_offset")?)
        })
    }
}

impl Failover {
    /// Kills `primary` and lets the promoted one serve at its address, as the process of that service. Returns how many bytes of
    /// writes that loses.
    pub(crate) fn complete(self, primary: &Service) -> Result<u64> {
        let Failover { promoted, folder } = self;
        let offset = |name| Operator::of(&socket(&folder, name))?.read::<u64>("replication", "master_repl_offset");
        let lost = offset(NAME)?.saturating_sub(offset(REPLICA)?);
        primary.kill()?;
        let kept = data(&folder, NAME);
        let taken = fs::remove_dir_all(&kept)
            .and_then(|()| fs::rename(data(&folder, REPLICA), &kept))
            .and_then(|()| fs::rename(socket(&folder, REPLICA), socket(&folder, NAME)));
        taken.context("the promoted Redis cannot take the place of its primary")?;
        // The promoted one was started without an append-only file.
        configure(&folder, NAME, "no")?;
        primary.adopt(promoted)?;
        primary.wait_ready(LIMIT)?;
        Ok(lost)
    }
}
