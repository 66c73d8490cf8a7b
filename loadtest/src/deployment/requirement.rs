//! Requirements of a threat besides a shop.

use std::fmt;

use stack::ServerKind;

use crate::shop::catalogue::Strategy;

/// A part that has to be started here, so that it can be paused, killed or slowed down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// The processes of the instances.
    Instances,
    /// The process of a store.
    Service(ServerKind),
    /// A relay before a server, for each instance.
    Relay(ServerKind),
    /// A proxy that retries at the next instance after any failure.
    RetryingProxy,
    /// The clocks of the instances and of the stores.
    Clocks,
}

impl Requirement {
    /// Returns the server of a relay, if it is one.
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

/// Returns the servers that hold a strategy's stock, orders or locks, each once.
pub fn servers(strategy: &Strategy) -> Vec<ServerKind> {
    used(|server| holds_sales(strategy, server) || strategy.needs.iter().any(|need| need == server))
}

/// Returns the servers that hold only its locks.
pub fn lock_servers(strategy: &Strategy) -> Vec<ServerKind> {
    used(|server| !holds_sales(strategy, server) && strategy.needs.iter().any(|need| need == server))
}

/// Returns whether stock or orders are there.
fn holds_sales(strategy: &Strategy, server: &str) -> bool {
    [strategy.store.stock, strategy.store.orders].contains(&server)
}

fn used(is_used: impl Fn(&str) -> bool) -> Vec<ServerKind> {
    let kinds = [(ServerKind::Redis, "redis"), (ServerKind::MariaDb, "sql")];
    let used = kinds.into_iter().filter(|(_, server)| is_used(server));
    used.map(|(kind, _)| kind).collect()
}
