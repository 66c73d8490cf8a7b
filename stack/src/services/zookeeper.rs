//! One ZooKeeper server on its own.

use std::fs;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use anyhow::{Context, Result};

use super::kind::{Kind, Running};
use crate::launch::Launch;
use crate::locate::locate;
use crate::ports;
use crate::ready::Ready;
use crate::server_kind::ServerKind;
use crate::service::Service;
use crate::service_kind::ServiceKind;

pub(super) const KIND: Kind = Kind {
    of: ServiceKind::ZooKeeper,
    start,
};

/// Makes Java start fast and stay small, and log warnings only, on stderr.
const JAVA: [&str; 4] = [
    "-Xmx128m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
];

fn start(fetch: bool, folder: &Path) -> Result<Running> {
    let program = locate(ServerKind::ZooKeeper, fetch)?;
    let port = ports::free(1)?[0];
    let path = folder.join("zookeeper.cfg");
    let content = folder.join("zookeeper");
    let lines = [
        format!("dataDir={}", content.display()),
        "clientPortAddress=127.0.0.1".to_owned(),
        format!("clientPort={port}"),
        "admin.enableServer=false".to_owned(),
        "4lw.commands.whitelist=srvr,mntr".to_owned(),
        "maxClientCnxns=0".to_owned(),
        // ZooKeeper looks for ended sessions once in a tick, and a lease of the shop may be shorter than the default tick.
        "tickTime=100".to_owned(),
        "minSessionTimeout=200".to_owned(),
        "maxSessionTimeout=600000".to_owned(),
        // Its data is thrown away.
        "forceSync=no".to_owned(),
    ];
    fs::write(&path, lines.join("\n") + "\n").with_context(|| format!("could not write {}", path.display()))?;
    let launch = Launch::from(&program)
        .args(JAVA)
        .arg("org.apache.zookeeper.server.ZooKeeperServerMain")
        .arg(path);
    let ready = Ready::ZooKeeper(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    Ok(Running {
        services: vec![Service::start("zookeeper", launch, ready, folder)?],
        urls: vec![format!("zookeeper://127.0.0.1:{port}")],
    })
}
