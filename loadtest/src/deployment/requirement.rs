//! What a threat can need of a deployment besides a shop.

use std::fmt;

use stack::ServerKind;

use crate::shop::catalogue::Strategy;

/// Something that has to be started here, so that it can be told to pause, to die or to be slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// The processes of the instances.
    Instances,
    /// The process of a store.
    Service(ServerKind),
    /// A relay before a server for each instance.
    Relay(ServerKind),
    /// A proxy that asks the next instance whatever happened at the one before.
    RetryingProxy,
    /// The clocks of the instances and of the stores.
    Clocks,
}

impl Requirement {
    /// The server before which a relay has to stand, if it is that.
    pub(crate) fn relay(self) -> Option<ServerKind> {
        match self {
            Self::Relay(kind) => Some(kind),
            Self::Instances | Self::Service(_) | Self::RetryingProxy | Self::Clocks => None,
        }
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Instances => f.write_str("a shop that is started here: leave out --host"),
            Self::RetryingProxy => f.write_str("a proxy that is started here: leave out --host"),
            Self::Clocks => {
                f.write_str("instances and stores that are started here, on Linux: leave out --host, --redis and --sql")
            }
            Self::Service(kind) | Self::Relay(kind) => {
                let url = match kind {
                    ServerKind::Redis => "--redis",
                    ServerKind::MariaDb => "--sql",
                    ServerKind::Nginx | ServerKind::ZooKeeper | ServerKind::Etcd => "its URL",
                };
                write!(f, "a {kind} that is started here: leave out --host and {url}")
            }
        }
    }
}

/// The servers that a strategy keeps stock and orders in, or locks by, each once.
pub fn servers(strategy: &Strategy) -> Vec<ServerKind> {
    used(|server| keeps(strategy, server) || strategy.needs.iter().any(|need| need == server))
}

/// Those that it locks by alone.
pub fn lock_servers(strategy: &Strategy) -> Vec<ServerKind> {
    used(|server| !keeps(strategy, server) && strategy.needs.iter().any(|need| need == server))
}

/// Whether stock or orders are there.
fn keeps(strategy: &Strategy, server: &str) -> bool {
    [strategy.store.stock, strategy.store.orders].contains(&server)
}

fn used(is_used: impl Fn(&str) -> bool) -> Vec<ServerKind> {
    let kinds = [(ServerKind::Redis, "redis"), (ServerKind::MariaDb, "sql")];
    let used = kinds.into_iter().filter(|(_, server)| is_used(server));
    used.map(|(kind, _)| kind).collect()
}
