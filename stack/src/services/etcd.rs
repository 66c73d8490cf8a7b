//! One etcd server on its own.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use anyhow::Result;

use super::kind::{Kind, Running};
use crate::launch::Launch;
use crate::locate::locate;
use crate::ports;
use crate::program::Program;
use crate::ready::Ready;
use crate::server_kind::ServerKind;
use crate::service::Service;
use crate::service_kind::ServiceKind;

pub(super) const KIND: Kind = Kind {
    of: ServiceKind::Etcd,
    start,
};

fn start(fetch: bool, folder: &Path) -> Result<Running> {
    let program = locate(ServerKind::Etcd, fetch)?;
    let address = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let (client, peer) = {
        let found = ports::free(2)?;
        (address(found[0]), address(found[1]))
    };
    let [for_clients, for_peers] = [client, peer].map(|address| format!("http://{address}"));
    let launch = Launch::from(&program)
        .arg("--data-dir")
        .arg(folder.join("etcd"))
        .args(["--name", "etcd", "--initial-cluster", &format!("etcd={for_peers}")])
        .args(["--listen-client-urls", &for_clients])
        .args(["--advertise-client-urls", &for_clients])
        .args(["--listen-peer-urls", &for_peers])
        .args(["--initial-advertise-peer-urls", &for_peers])
        // No lease can be shorter than one and a half elections, rounded up to seconds.
        .args(["--heartbeat-interval", "10", "--election-timeout", "100"])
        .args(["--logger", "zap", "--log-level", "warn"])
        .args(no_fsync(&program));
    Ok(Running {
        services: vec![Service::start("etcd", launch, Ready::Etcd(client), folder)?],
        urls: vec![for_clients],
    })
}

/// Its data is thrown away. Only 3.5 and later have the flag.
fn no_fsync(program: &Program) -> Option<&'static str> {
    const FLAG: &str = "--unsafe-no-fsync";
    let help = program.ask("--help").unwrap_or_default();
    help.contains(FLAG).then_some(FLAG)
}
