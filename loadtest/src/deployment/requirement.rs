//! Requirements of a threat besides a shop.

use std::fmt;

use stack::ServiceKind;

use crate::shop::catalogue::Strategy;

/// A part that has to be started here, so that it can be paused, killed or slowed down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// The processes of the instances.
    Instances,
    /// The processes of a service.
    Service(ServiceKind),
    /// The first process of a service, with a journal of what it does not sync.
    Journal(ServiceKind),
    /// A relay before each process of a service, for each instance.
    Relay(ServiceKind),
    /// A proxy that retries at the next instance after any failure.
    RetryingProxy,
    /// The clocks of the instances and of the stores.
    Clocks,
}

impl Requirement {
    /// Returns whether it is a relay.
    pub(crate) fn is_relay(self) -> bool {
        matches!(self, Self::Relay(_))
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
            Self::Journal(kind) => write!(f, "{kind}, started here on Linux: leave out --host and its URL"),
            Self::Service(kind) | Self::Relay(kind) => {
                let url = match kind {
                    ServiceKind::Redis => "--redis",
                    ServiceKind::Sql => "--sql",
                    ServiceKind::SecondSql => "--sql-2",
                    ServiceKind::Pg => "--pg",
                    ServiceKind::Cluster => "--cluster",
                    ServiceKind::RedisNodes | ServiceKind::ZooKeeper | ServiceKind::Etcd => "its URL",
                };
                write!(f, "{kind}, started here: leave out --host and {url}")
            }
        }
    }
}

/// Returns the services that hold a strategy's stock, orders or locks, each once.
pub fn servers(strategy: &Strategy) -> Vec<ServiceKind> {
    used(|kind| holds_sales(strategy, kind) || is_needed(strategy, kind))
}

/// Returns the services that hold only its locks. A strategy over two stores has none: a further service of it holds
/// orders or messages.
pub fn lock_servers(strategy: &Strategy) -> Vec<ServiceKind> {
    let has_two_stores = ["two-stores", "distributed-transaction"].contains(&strategy.family());
    used(|kind| !has_two_stores && !holds_sales(strategy, kind) && is_needed(strategy, kind))
}

/// Returns whether a strategy's need of that name is a lock service of several nodes.
pub fn is_lock_service(need: &str) -> bool {
    ServiceKind::ALL
        .into_iter()
        .any(|kind| kind.name() == need && has_several_nodes(kind))
}

/// Returns whether several nodes make up the service.
pub(crate) fn has_several_nodes(kind: ServiceKind) -> bool {
    match kind {
        ServiceKind::RedisNodes | ServiceKind::ZooKeeper | ServiceKind::Etcd => true,
        ServiceKind::Redis
        | ServiceKind::Sql
        | ServiceKind::SecondSql
        | ServiceKind::Pg
        // Its nodes share the sales: none of them can be lost.
        | ServiceKind::Cluster => false,
    }
}

/// Returns whether stock or orders are there.
fn holds_sales(strategy: &Strategy, kind: ServiceKind) -> bool {
    [strategy.store.stock, strategy.store.orders].contains(&kind.name())
}

fn is_needed(strategy: &Strategy, kind: ServiceKind) -> bool {
    strategy.needs.iter().any(|need| need == kind.name())
}

fn used(is_used: impl Fn(ServiceKind) -> bool) -> Vec<ServiceKind> {
    ServiceKind::ALL.into_iter().filter(|kind| is_used(*kind)).collect()
}
