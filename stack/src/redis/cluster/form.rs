//! Makes a cluster of nodes that belong to none.

use anyhow::{Context, Result};

use super::{Member, NODES, Nodes, PRIMARIES, until};
use crate::service::Service;

/// The slots of every cluster.
const SLOTS: usize = 16_384;

/// Gives each of the first nodes a range of slots and one of the others as its replica, and waits until every node knows that the
/// cluster serves. `ports` are those of each node: for clients, and for the other nodes.
pub(crate) fn form(services: &[Service], ports: &[[u16; 2]]) -> Result<()> {
    let nodes = Nodes(services);
    let mut operators = (0..NODES)
        .map(|node| nodes.operator(node))
        .collect::<Result<Vec<_>>>()?;
    for (node, operator) in operators.iter_mut().enumerate() {
        // Nodes that begin with one epoch would have to agree first.
        operator.execute("CLUSTER", &["SET-CONFIG-EPOCH", &(node + 1).to_string()])?;
        if node < PRIMARIES {
            let [first, end] = [node, node + 1].map(|part| part * SLOTS / PRIMARIES);
            operator.execute(
                "CLUSTER",
                &["ADDSLOTSRANGE", &first.to_string(), &(end - 1).to_string()],
            )?;
        }
    }
    let [first, others @ ..] = &mut *operators else {
        anyhow::bail!("a cluster has nodes");
    };
    for [port, bus] in ports.iter().skip(1) {
        first.execute("CLUSTER", &["MEET", "127.0.0.1", &port.to_string(), &bus.to_string()])?;
    }
    let ids = std::iter::once(&mut *first).chain(&mut *others).take(PRIMARIES);
    let ids = ids.map(|primary| primary.ask("CLUSTER", &["MYID"]));
    let ids = ids.collect::<Result<Vec<String>>>()?;
    for (operator, id) in operators.iter_mut().skip(PRIMARIES).zip(&ids) {
        until("a replica does not know its primary", || {
            Ok(Member::all(operator)?.iter().any(|member| member.id == *id))
        })?;
        operator.execute("CLUSTER", &["REPLICATE", id])?;
    }
    for (node, operator) in operators.iter_mut().enumerate() {
        until("the cluster does not serve", || {
            let known: usize = operator.read_from("CLUSTER", "INFO", "cluster_known_nodes")?;
            let state: String = operator.read_from("CLUSTER", "INFO", "cluster_state")?;
            Ok(known == NODES && state == "ok")
        })
        .with_context(|| format!("{} is not part of the cluster", nodes.service(node).name()))?;
    }
    nodes.wait_for_replicas()
}

impl Nodes<'_> {
    /// Waits until each primary has its replica, every replica has a copy of its primary, and every node knows of all this.
    pub(super) fn wait_for_replicas(&self) -> Result<()> {
        until("the cluster is not whole", || {
            for node in 0..NODES {
                let mut operator = self.operator(node)?;
                let members = Member::all(&mut operator)?;
                let replicas = members.iter().filter(|member| member.primary.is_some()).count();
                if members.iter().any(|member| member.has_failed) || replicas != NODES - PRIMARIES {
                    return Ok(false);
                }
                let role: String = operator.read("replication", "role")?;
                if role == "slave" && operator.read::<String>("replication", "master_link_status")? != "up" {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }
}
