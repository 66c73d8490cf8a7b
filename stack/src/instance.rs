//! One instance of the shop.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use anyhow::Result;

use crate::clock::Clock;
use crate::launch::Launch;
use crate::ready::Ready;
use crate::server_kind::ServerKind;
use crate::service::Service;
use crate::shop_options::ShopOptions;

/// The two addresses of an instance, which it keeps over a restart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ports {
    pub(crate) public: SocketAddr,
    pub(crate) admin: SocketAddr,
}

impl Ports {
    pub(crate) fn new(public: u16, admin: u16) -> Ports {
        let local = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        Ports {
            public: local(public),
            admin: local(admin),
        }
    }
}

/// Returns the variable in which an instance looks for the URL of a server; none for a server that it does not use.
fn variable(kind: ServerKind) -> Option<&'static str> {
    match kind {
        ServerKind::Redis => Some("OVERSELL_REDIS_URL"),
        ServerKind::MariaDb => Some("OVERSELL_SQL_URL"),
        ServerKind::ZooKeeper => Some("OVERSELL_ZOOKEEPER_URL"),
        ServerKind::Etcd => Some("OVERSELL_ETCD_URL"),
        ServerKind::Nginx => None,
    }
}

/// Starts instance `number`, counted from 1. URLs and secrets go by the environment, which other users cannot read. Its
/// traces go to a folder of its own, which survives a restart.
pub(crate) fn start(
    options: &ShopOptions,
    number: usize,
    ports: Ports,
    urls: impl Iterator<Item = (ServerKind, String)>,
    folder: &Path,
) -> Result<Service> {
    let name = format!("app-{number}");
    let mut launch = Launch::new(&options.program)
        .args(&options.args)
        .args(["--instance", &name])
        .args(["--listen", &ports.public.to_string()])
        .args(["--admin-listen", &ports.admin.to_string()]);
    for (variable, value) in &options.env {
        launch = launch.env(variable, value);
    }
    // Last, because the URL of a relay replaces that of its server.
    for (kind, url) in urls {
        if let Some(variable) = variable(kind) {
            launch = launch.env(variable, url);
        }
    }
    let launch = launch
        .env("OVERSELL_TRACES", folder.join(format!("{name}.traces")))
        .clock(Clock::new(folder, &name)?);
    Service::start(name, launch, Ready::Http(ports.public), folder)
}
