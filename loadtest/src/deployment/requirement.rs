//! Requirements of a threat besides a shop.

use std::fmt;

use stack::{Service, ServiceKind, Shop, Stores};

use crate::shop::catalogue::Strategy;

/// A part that has to be in reach, so that it can be paused, killed or slowed down: it was started here, or a service for faults
/// stands beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// The processes of the instances.
    Instances,
    /// The listeners of each instance, past the proxy.
    EachInstance,
    /// The processes of a service.
    Service(ServiceKind),
    /// The processes of a service, and several of them.
    Ensemble(ServiceKind),
    /// The first process of a service, with a journal of what it does not sync.
    Journal(ServiceKind),
    /// The first process of a service, with a disk that can be full.
    Disk(ServiceKind),
    /// A database whose settings can be changed.
    Settings(ServiceKind),
    /// A store that can get a replica.
    Replica(ServiceKind),
    /// A relay before each process of a service, for each instance.
    Relay(ServiceKind),
    /// A proxy that retries at the next instance after any failure.
    RetryingProxy,
    /// The clocks of the instances and of the stores.
    Clocks,
}

impl Requirement {
    /// Returns whether these stores and this shop meet it. Without a shop one is started for it.
    pub(crate) fn is_met(self, stores: &Stores, shop: Option<&Shop>) -> bool {
        match self {
            Self::Instances => shop.is_none_or(|shop| !shop.instances().is_empty()),
            Self::EachInstance => shop.is_none_or(|shop| !shop.admins().is_empty()),
            Self::RetryingProxy => shop.is_none_or(|shop| !shop.relays_before().is_empty()),
            Self::Service(kind) => !stores.processes(kind).is_empty(),
            Self::Ensemble(kind) => stores.processes(kind).len() > 1,
            // PostgreSQL in a container has one user, which may.
            Self::Settings(kind) => kind == ServiceKind::Pg || !is_elsewhere(stores, kind),
            Self::Replica(kind) => stores.can_replicate(kind),
            Self::Relay(kind) => match shop {
                Some(shop) => shop.relays(kind).next().is_some(),
                None => !stores.processes(kind).is_empty(),
            },
            Self::Journal(kind) => {
                let first = stores.processes(kind).first();
                first.is_some_and(|process| process.unsynced().is_some())
            }
            Self::Disk(kind) => {
                let first = stores.processes(kind).first();
                first.is_some_and(|process| process.disk().is_some())
            }
            Self::Clocks => {
                let has_clock = |store: Option<&Service>| store.is_some_and(|store| store.clock().is_some());
                let of_instances = shop.is_none_or(|shop| shop.clocks().next().is_some());
                of_instances && has_clock(stores.redis()) && has_clock(stores.mariadb())
            }
        }
    }

    /// Returns why a service for faults beside the servers of a shop does not meet it.
    pub fn out_of_reach(self) -> String {
        match self {
            Self::Clocks => "the processes in these containers read the clock of their machine".to_owned(),
            Self::Journal(kind) => format!("{kind} in these containers keeps no journal of what it did not sync"),
            Self::Disk(kind) => format!("the disk of {kind} in these containers cannot be full"),
            Self::Settings(kind) => format!("only root may change how {kind} in a container syncs"),
            Self::Replica(kind) => format!("{kind} in a container has no replica"),
            Self::Instances => "an instance in these containers is ended and started by its engine".to_owned(),
            Self::Ensemble(kind) => format!("{kind} in a container is a single server"),
            Self::Service(kind) => format!("{kind} in a container runs without the script that can kill it"),
            Self::Relay(kind) => format!("there is no relay before {kind}"),
            Self::RetryingProxy => "there is no proxy that retries before so many instances".to_owned(),
            Self::EachInstance => "the instances are reached through the proxy alone".to_owned(),
        }
    }

    /// Returns whether it is a relay.
    pub(crate) fn is_relay(self) -> bool {
        matches!(self, Self::Relay(_))
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EachInstance => f.write_str("each instance of the shop: leave out --host, or add --public"),
            Self::Ensemble(kind) => write!(
                f,
                "{kind} with several servers, started here: leave out --host and its URL"
            ),
            Self::Instances => f.write_str("a shop that is started here: leave out --host"),
            Self::RetryingProxy => f.write_str("a proxy that is started here: leave out --host"),
            Self::Clocks => {
                f.write_str("instances and stores that are started here, on Linux: leave out --host, --redis and --sql")
            }
            Self::Journal(kind) | Self::Disk(kind) => {
                write!(f, "{kind}, started here on Linux: leave out --host and its URL")
            }
            Self::Service(kind) | Self::Settings(kind) | Self::Replica(kind) | Self::Relay(kind) => {
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

fn is_elsewhere(stores: &Stores, kind: ServiceKind) -> bool {
    stores.processes(kind).first().is_none_or(Service::is_elsewhere)
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
