//! A Redis Cluster of three primaries, each with a replica: a store that only some strategies sell from.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use super::kind::{Kind, Running};
use crate::address;
use crate::locate::locate;
use crate::ports::ReservedPorts;
use crate::redis::cluster::{self, NODES};
use crate::server_kind::ServerKind;
use crate::service::Service;
use crate::service_kind::ServiceKind;

pub(super) const KIND: Kind = Kind {
    of: ServiceKind::Cluster,
    start,
};

/// For the start of one node. The nodes are made a cluster only when all of them serve.
const START_LIMIT: Duration = Duration::from_secs(30);

fn start(fetch: bool, folder: &Path) -> Result<Running> {
    let program = locate(ServerKind::Redis, fetch)?;
    let address = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let reserved = ReservedPorts::new(2 * NODES)?;
    let found = reserved.all();
    let ports: Vec<_> = found.chunks_exact(2).map(|ports| [ports[0], ports[1]]).collect();
    let nodes = (1..).zip(&ports).map(|(number, [client, bus])| {
        let name = format!("cluster-{number}");
        cluster::start(&program, folder, &name, address(*client), address(*bus))
    });
    let services: Vec<Service> = nodes.collect::<Result<_>>()?;
    for service in &services {
        let ready = service.wait_ready(START_LIMIT);
        ready.with_context(|| format!("could not start {}", service.name()))?;
    }
    cluster::form(&services, &ports)?;
    let urls = ports.iter().map(|[client, _]| address::redis_at(address(*client)));
    Ok(Running {
        services,
        urls: urls.collect::<Result<_>>()?,
        _ports: reserved,
    })
}
