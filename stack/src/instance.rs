//! One instance of the shop.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use anyhow::Result;

use crate::clock::Clock;
use crate::launch::Launch;
use crate::ready::Ready;
use crate::service::Service;
use crate::service_kind::ServiceKind;
use crate::shop_options::ShopOptions;

/// The token of the workers of a run, which no shop may know.
const WORKERS_TOKEN: &str = "OVERSELL_WORKERS_TOKEN";

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

/// Starts instance `number`, counted from 1. URLs and secrets go by the environment, which other users cannot read. Its
/// traces go to a folder of its own, which survives a restart.
pub(crate) fn start(
    options: &ShopOptions,
    number: usize,
    ports: Ports,
    urls: impl Iterator<Item = (ServiceKind, String)>,
    folder: &Path,
) -> Result<Service> {
    let name = format!("app-{number}");
    let mut launch = Launch::new(&options.program)
        .without_env(WORKERS_TOKEN)
        .args(&options.args)
        .args(["--instance", &name])
        .args(["--listen", &ports.public.to_string()])
        .args(["--admin-listen", &ports.admin.to_string()]);
    for (variable, value) in &options.env {
        launch = launch.env(variable, value);
    }
    // Last, because the URLs of relays replace those of their service.
    for (kind, url) in urls {
        launch = launch.env(kind.variable(), url);
    }
    let launch = launch
        .env("OVERSELL_TRACES", folder.join(format!("{name}.traces")))
        .clock(Clock::new(folder, &name)?);
    Service::start(name, launch, Ready::Http(ports.public), folder)
}
