//! One instance of the shop.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use anyhow::Result;

use crate::{Launch, Ready, Service, ShopOptions};

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

/// Where the stores are.
#[derive(Clone, Copy)]
pub(crate) struct StoreUrls<'a> {
    pub(crate) redis: &'a str,
    pub(crate) sql: &'a str,
}

/// Starts instance `number`, counted from 1. URLs and secrets go by the environment, which other users cannot read. Its
/// traces go to a folder of its own, which another run of it finds as this one left it.
pub(crate) fn start(
    options: &ShopOptions,
    number: usize,
    ports: Ports,
    urls: StoreUrls<'_>,
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
    let launch = launch
        .env("OVERSELL_REDIS_URL", urls.redis)
        .env("OVERSELL_SQL_URL", urls.sql)
        .env("OVERSELL_TRACES", folder.join(format!("{name}.traces")));
    Service::start(name, launch, Ready::Http(ports.public), folder)
}
