//! Independent Redis servers, for locks that need a majority.

use std::path::Path;

use anyhow::Result;

use super::kind::{Kind, Running};
use crate::address;
use crate::locate::locate;
use crate::ports::ReservedPorts;
use crate::redis;
use crate::server_kind::ServerKind;
use crate::service_kind::ServiceKind;

/// A majority survives the loss of two.
const NODES: usize = 5;

pub(super) const KIND: Kind = Kind {
    of: ServiceKind::RedisNodes,
    start,
};

fn start(fetch: bool, folder: &Path) -> Result<Running> {
    let program = locate(ServerKind::Redis, fetch)?;
    let names: Vec<_> = (1..=NODES).map(|number| format!("redis-node-{number}")).collect();
    let services = names.iter().map(|name| redis::start(&program, folder, name));
    Ok(Running {
        services: services.collect::<Result<_>>()?,
        urls: names
            .iter()
            .map(|name| address::redis(&redis::socket(folder, name)))
            .collect(),
        _ports: ReservedPorts::default(),
    })
}
