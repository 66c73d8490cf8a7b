//! A cluster of three etcd servers.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use anyhow::Result;

use super::kind::{Kind, Running};
use crate::launch::Launch;
use crate::locate::locate;
use crate::ports::ReservedPorts;
use crate::program::Program;
use crate::ready::Ready;
use crate::server_kind::ServerKind;
use crate::service::Service;
use crate::service_kind::ServiceKind;

pub(super) const KIND: Kind = Kind {
    of: ServiceKind::Etcd,
    start,
};

/// A majority survives the loss of one.
const SERVERS: usize = 3;

/// One server.
struct Member {
    name: String,
    /// Where it answers clients.
    client: SocketAddr,
    /// Where it answers the other servers.
    peer: SocketAddr,
}

fn start(fetch: bool, folder: &Path) -> Result<Running> {
    let program = locate(ServerKind::Etcd, fetch)?;
    let address = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let reserved = ReservedPorts::new(2 * SERVERS)?;
    let found = reserved.all();
    let members = (1..).zip(found.chunks_exact(2)).map(|(number, ports)| Member {
        name: format!("etcd-{number}"),
        client: address(ports[0]),
        peer: address(ports[1]),
    });
    let members: Vec<Member> = members.collect();
    let cluster: Vec<_> = members
        .iter()
        .map(|member| format!("{}={}", member.name, url(member.peer)))
        .collect();
    let flag = no_fsync(&program);
    let services = members.iter().map(|member| {
        let launch = launch(&program, member, &cluster.join(","), folder).args(flag);
        Service::start(&*member.name, launch, Ready::Etcd(member.client), folder)
    });
    Ok(Running {
        services: services.collect::<Result<_>>()?,
        urls: members.iter().map(|member| url(member.client)).collect(),
        _ports: reserved,
    })
}

fn launch(program: &Program, member: &Member, cluster: &str, folder: &Path) -> Launch {
    let [for_clients, for_peers] = [member.client, member.peer].map(url);
    Launch::from(program)
        .arg("--data-dir")
        .arg(folder.join(&member.name))
        .args(["--name", &member.name, "--initial-cluster", cluster])
        .args(["--listen-client-urls", &for_clients])
        .args(["--advertise-client-urls", &for_clients])
        .args(["--listen-peer-urls", &for_peers])
        .args(["--initial-advertise-peer-urls", &for_peers])
        // No lease can be shorter than one and a half elections, rounded up to seconds. A cluster on a busy machine would
        // take a late heartbeat for a dead leader if the election were much shorter.
        .args(["--heartbeat-interval", "60", "--election-timeout", "600"])
        .args(["--logger", "zap", "--log-level", "warn"])
}

fn url(address: SocketAddr) -> String {
    format!("http://{address}")
}

/// Its data is thrown away at the end. A killed process leaves to the system what it wrote. Only 3.5 and later have the flag.
fn no_fsync(program: &Program) -> Option<&'static str> {
    const FLAG: &str = "--unsafe-no-fsync";
    let help = program.ask("--help").unwrap_or_default();
    help.contains(FLAG).then_some(FLAG)
}
