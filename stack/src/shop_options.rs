//! How a shop is started.

use std::path::PathBuf;

use crate::service_kind::ServiceKind;

/// How a shop is started. It has no `Debug`: the environment holds secrets.
#[derive(Clone)]
pub struct ShopOptions {
    /// The binary of an instance.
    pub program: PathBuf,
    /// Arguments before `--instance`, `--listen` and `--admin-listen`.
    pub args: Vec<String>,
    /// Variables for every instance, such as secrets; `OVERSELL_REDIS_URL`, `OVERSELL_SQL_URL` and
    /// `OVERSELL_TRACES` are added.
    pub env: Vec<(String, String)>,
    /// The number of instances, at least one.
    pub instances: usize,
    /// Whether a missing nginx may be fetched, see [`locate()`](crate::locate()).
    pub fetch: bool,
    /// The public port; a free one if none is given, or 0.
    pub port: Option<u16>,
    /// The services of which each instance reaches every process through a relay of its own; they have to be started here.
    pub relays: Vec<ServiceKind>,
    /// Whether the proxy resends a request that one instance did not answer well to the next one. A purchase may then be carried
    /// out twice. The proxy reaches each instance through a relay.
    pub retrying: bool,
}

impl ShopOptions {
    /// Returns the port that was asked for; 0 asks for any free one.
    pub(crate) fn asked_port(&self) -> Option<u16> {
        self.port.filter(|port| *port != 0)
    }
}
