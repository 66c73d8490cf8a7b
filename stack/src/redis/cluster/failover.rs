//! A primary of a cluster dies, and its replica, which lacks the latest writes, takes over.

use std::time::Duration;

use anyhow::{Context, Result};

use super::member::serving;
use super::{Operator, until};
use crate::stores::Stores;

/// For a killed node to serve again.
const RESTART_LIMIT: Duration = Duration::from_secs(30);

/// A primary that serves on while its replica gets nothing from it.
pub struct ClusterPartition {
    slot: u16,
    primary: usize,
    replica: usize,
    /// The id of the replica.
    takes_over: String,
}

/// How a replica took over.
pub struct ClusterFailover {
    /// The process that was killed.
    pub killed: u32,
    /// The process that serves the slot since.
    pub serves: u32,
    /// The bytes of writes that the killed process had answered, and the other one never got.
    pub lost: u64,
}

impl Stores {
    /// Stops the replica of the node that serves a key, and ends its connection: what the primary writes from now on never reaches
    /// it. [`Stores::fail_over_cluster`] has to follow.
    ///
    /// # Errors
    ///
    /// When the cluster was not started here, or does not answer.
    pub fn cut_off_cluster_replica(&self, key: &str) -> Result<ClusterPartition> {
        let nodes = self.cluster()?;
        let slot = nodes.slot(key)?;
        let members = nodes.members()?;
        let primary = serving(&members, slot)?;
        let replica = members
            .iter()
            .find(|member| member.primary.as_ref() == Some(&primary.id));
        let replica = replica.context("the node that serves the slot has no replica")?;
        let takes_over = replica.id.clone();
        let (primary, replica) = (nodes.find(&primary.id)?, nodes.find(&replica.id)?);
        let (mut of_primary, mut of_replica) = (nodes.operator(primary)?, nodes.operator(replica)?);
        until("the replica has not caught up", || {
            let copied: u64 = of_replica.read("replication", "slave_repl_offset")?;
            Ok(copied == written(&mut of_primary)?)
        })?;
        nodes.service(replica).pause()?;
        of_primary.execute("CLIENT", &["KILL", "TYPE", "replica"])?;
        Ok(ClusterPartition {
            slot,
            primary,
            replica,
            takes_over,
        })
    }

    /// Kills the primary, lets its replica go on, and waits until that serves the slot by the election of the others. Starts the
    /// killed node again, which follows the new primary from then on.
    ///
    /// # Errors
    ///
    /// When the cluster was not started here, no replica takes over within some seconds, or the killed node does not come back.
    pub fn fail_over_cluster(&self, partition: ClusterPartition) -> Result<ClusterFailover> {
        let nodes = self.cluster()?;
        let [primary, replica] = [partition.primary, partition.replica].map(|node| nodes.service(node));
        let had = written(&mut nodes.operator(partition.primary)?)?;
        let killed = primary.pid();
        primary.kill()?;
        replica.resume()?;
        let mut of_replica = nodes.operator(partition.replica)?;
        // It has read what was on its way when its connection ended.
        until("the replica does not miss its primary", || {
            let link: String = of_replica.read("replication", "master_link_status")?;
            Ok(link == "down")
        })?;
        let copied: u64 = of_replica.read("replication", "slave_repl_offset")?;
        until("no replica has taken over", || {
            let members = nodes.members()?;
            let serves = serving(&members, partition.slot)?.id == partition.takes_over;
            let state: String = of_replica.read_from("CLUSTER", "INFO", "cluster_state")?;
            Ok(serves && state == "ok")
        })?;
        primary.restart()?;
        primary.wait_ready(RESTART_LIMIT)?;
        nodes.wait_for_replicas()?;
        Ok(ClusterFailover {
            killed,
            serves: replica.pid(),
            lost: had.saturating_sub(copied),
        })
    }
}

/// Returns the number of bytes that a primary has written for its replicas.
fn written(primary: &mut Operator) -> Result<u64> {
    primary.read("replication", "master_repl_offset")
}
