//! The nodes of a Redis Cluster. They talk to each other over TCP, so they listen at ports, and ask for a password: other users
//! of this machine reach a port of the loopback interface too.

mod failover;
mod form;
mod member;
mod migration;

use std::fs::{self, File};
use std::io::Read;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

pub use self::failover::{ClusterFailover, ClusterPartition};
pub(crate) use self::form::form;
use self::member::{Member, serving};
pub use self::migration::SlotMigration;
use super::{Operator, replication, until_within, write_configuration};
use crate::clock::Clock;
use crate::launch::Launch;
use crate::program::Program;
use crate::ready::Ready;
use crate::service::Service;
use crate::service_kind::ServiceKind;
use crate::stores::Stores;

/// The fewest primaries of which a majority outlives one.
pub(crate) const PRIMARIES: usize = 3;
/// Each primary has a replica.
pub(crate) const NODES: usize = 2 * PRIMARIES;

/// The silence after which a node counts as failed, in milliseconds. A node on a busy machine must not be taken for a dead one.
const NODE_TIMEOUT_MS: u32 = 1_000;

/// For the nodes to agree: on a busy machine an election may be lost and begin again.
const AGREE_LIMIT: Duration = Duration::from_secs(30);

/// Returns the password of every node that this process starts.
///
/// # Errors
///
/// When the system gives no random bytes.
pub(crate) fn password() -> Result<&'static str> {
    static PASSWORD: OnceLock<String> = OnceLock::new();
    if let Some(password) = PASSWORD.get() {
        return Ok(password);
    }
    let mut random = [0; 16];
    let read = File::open("/dev/urandom").and_then(|mut source| source.read_exact(&mut random));
    read.context("could not read random bytes for a password")?;
    Ok(PASSWORD.get_or_init(|| format!("{:032x}", u128::from_ne_bytes(random))))
}

/// Starts a node, which belongs to no cluster yet. After a restart it is empty, and joins the cluster that it was in.
pub(crate) fn start(
    program: &Program,
    folder: &Path,
    name: &str,
    client: SocketAddr,
    bus: SocketAddr,
) -> Result<Service> {
    let data = super::data(folder, name);
    fs::create_dir_all(&data).with_context(|| format!("could not create {}", data.display()))?;
    let password = password()?;
    let mut lines = vec![
        format!("bind {}", client.ip()),
        format!("port {}", client.port()),
        format!("requirepass {password}"),
        format!("masterauth {password}"),
        "cluster-enabled yes".to_owned(),
        format!("cluster-port {}", bus.port()),
        format!("cluster-node-timeout {NODE_TIMEOUT_MS}"),
        // A replica takes over however long ago it last heard of its primary.
        "cluster-replica-validity-factor 0".to_owned(),
        // A killed primary comes back as the replica of the one that took over, and stays that.
        "cluster-allow-replica-migration no".to_owned(),
        "appendonly no".to_owned(),
    ];
    lines.extend(replication());
    let configuration = write_configuration(folder, name, &lines)?;
    let launch = Launch::from(program)
        .arg(configuration)
        .clock(Clock::new(folder, name)?);
    Service::start(name, launch, Ready::RedisPort(client), folder)
}

/// Repeats the check until it is true.
fn until(what: &str, is_done: impl FnMut() -> Result<bool>) -> Result<()> {
    until_within(AGREE_LIMIT, what, is_done)
}

impl Stores {
    /// Returns the number of the node that serves a key, from 0, in the order of [`Stores::processes`].
    ///
    /// # Errors
    ///
    /// When the cluster was not started here, or does not answer.
    pub fn cluster_node_of(&self, key: &str) -> Result<usize> {
        let nodes = self.cluster()?;
        let slot = nodes.slot(key)?;
        nodes.find(&serving(&nodes.members()?, slot)?.id)
    }

    fn cluster(&self) -> Result<Nodes<'_>> {
        let services = self.processes(ServiceKind::Cluster);
        ensure!(!services.is_empty(), "the Redis Cluster was not started here");
        Ok(Nodes(services))
    }
}

/// The nodes of the cluster that was started here.
struct Nodes<'a>(&'a [Service]);

impl<'a> Nodes<'a> {
    fn operator(&self, node: usize) -> Result<Operator> {
        operator(&self.0[node])
    }

    fn service(&self, node: usize) -> &'a Service {
        &self.0[node]
    }

    /// Returns the members as the first node that runs and answers sees them.
    fn members(&self) -> Result<Vec<Member>> {
        let mut last = None;
        for service in self.0.iter().filter(|service| !service.has_exited()) {
            match operator(service).and_then(|mut operator| Member::all(&mut operator)) {
                Ok(members) => return Ok(members),
                Err(error) => last = Some(error),
            }
        }
        Err(last.context("no node of the cluster runs")?)
    }

    /// Returns the number of the node with that id. All nodes of the cluster have to answer.
    fn find(&self, id: &str) -> Result<usize> {
        for node in 0..self.0.len() {
            if self.operator(node)?.ask::<String>("CLUSTER", &["MYID"])? == id {
                return Ok(node);
            }
        }
        anyhow::bail!("the cluster has a node {id} that was not started here")
    }

    /// Returns the slot of a key.
    fn slot(&self, key: &str) -> Result<u16> {
        let operator = self.0.iter().find_map(|service| operator(service).ok());
        operator
            .context("no node of the cluster answers")?
            .ask("CLUSTER", &["KEYSLOT", key])
    }
}

fn operator(service: &Service) -> Result<Operator> {
    Operator::at(&service.redis_url()?)
}
