//! An ensemble of three ZooKeeper servers.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use anyhow::{Context, Result};

use super::kind::{Kind, Running};
use crate::launch::Launch;
use crate::locate::locate;
use crate::ports::ReservedPorts;
use crate::ready::Ready;
use crate::server_kind::ServerKind;
use crate::service::Service;
use crate::service_kind::ServiceKind;

pub(super) const KIND: Kind = Kind {
    of: ServiceKind::ZooKeeper,
    start,
};

/// A majority survives the loss of one.
const SERVERS: usize = 3;

/// Makes Java start fast and stay small, and log warnings only, on stderr. Several ensembles run side by side.
const JAVA: [&str; 9] = [
    "-Xms8m",
    "-Xmx48m",
    "-Xss256k",
    "-XX:MaxMetaspaceSize=48m",
    "-XX:ReservedCodeCacheSize=16m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    // In milliseconds. By default a server that found nobody to elect waits twice as long before each next try.
    "-Dzookeeper.fastleader.maxNotificationInterval=200",
];

/// The ports of one server.
#[derive(Clone, Copy)]
struct Ports {
    client: u16,
    /// Followers connect to the leader here.
    peer: u16,
    election: u16,
}

fn start(fetch: bool, folder: &Path) -> Result<Running> {
    let program = locate(ServerKind::ZooKeeper, fetch)?;
    let ports = ReservedPorts::new(3 * SERVERS)?;
    let all: Vec<Ports> = ports
        .all()
        .chunks_exact(3)
        .map(|ports| Ports {
            client: ports[0],
            peer: ports[1],
            election: ports[2],
        })
        .collect();
    let services = (1..).zip(&all).map(|(number, ports)| {
        let name = format!("zookeeper-{number}");
        let launch = Launch::from(&program)
            .args(JAVA)
            .arg("org.apache.zookeeper.server.quorum.QuorumPeerMain")
            .arg(configure(folder, &name, number, &all)?);
        let ready = Ready::ZooKeeper(SocketAddr::from((Ipv4Addr::LOCALHOST, ports.client)));
        Service::start(name, launch, ready, folder)
    });
    Ok(Running {
        services: services.collect::<Result<_>>()?,
        urls: all
            .iter()
            .map(|ports| format!("zookeeper://127.0.0.1:{}", ports.client))
            .collect(),
        _ports: ports,
    })
}

/// Writes the configuration of one server and its number in the ensemble. Returns the path of the configuration.
fn configure(folder: &Path, name: &str, number: usize, all: &[Ports]) -> Result<std::path::PathBuf> {
    let content = folder.join(name);
    let path = folder.join(format!("{name}.cfg"));
    let mut lines = vec![
        format!("dataDir={}", content.display()),
        "clientPortAddress=127.0.0.1".to_owned(),
        format!("clientPort={}", all[number - 1].client),
        "admin.enableServer=false".to_owned(),
        "4lw.commands.whitelist=srvr,mntr".to_owned(),
        "maxClientCnxns=0".to_owned(),
        // ZooKeeper looks for ended sessions once in a tick, and a lease of the shop may be shorter than the default tick.
        "tickTime=100".to_owned(),
        "minSessionTimeout=200".to_owned(),
        "maxSessionTimeout=600000".to_owned(),
        // In ticks: ten seconds to join, and two seconds of silence before a follower or its leader is given up.
        "initLimit=100".to_owned(),
        "syncLimit=20".to_owned(),
        // Its data is thrown away at the end. A killed process leaves to the system what it wrote.
        "forceSync=no".to_owned(),
    ];
    lines.extend((1..).zip(all).map(|(number, ports)| {
        let Ports { peer, election, .. } = ports;
        format!("server.{number}=127.0.0.1:{peer}:{election}")
    }));
    fs::create_dir_all(&content).with_context(|| format!("could not create {}", content.display()))?;
    let id = content.join("myid");
    fs::write(&id, format!("{number}\n")).with_context(|| format!("could not write {}", id.display()))?;
    fs::write(&path, lines.join("\n") + "\n").with_context(|| format!("could not write {}", path.display()))?;
    Ok(path)
}
