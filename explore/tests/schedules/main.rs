//! Schedules of the strategies, played on real stores.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod claims;
mod events;
mod headers;
mod isolation;
mod search;
mod workers;

use app::strategies::Entry;
use explore::Arrivals;
use stack::{Parts, Stores};

/// The services of strategies that are played with every event.
const STARTED: &[&str] = &["redis", "sql", "sql-2", "redis-nodes"];

/// The same, and those of strategies whose sessions do not end here: they are played without an event.
const WITH_SESSIONS: &[&str] = &["redis", "sql", "sql-2", "redis-nodes", "zookeeper", "etcd"];

/// Two purchases at two instances.
const TWO: Arrivals = Arrivals {
    purchases: 2,
    instances: 2,
};

/// Starts stores that no other test uses.
fn stores() -> Stores {
    let parts = Parts {
        redis_url: None,
        sql_url: None,
        fetch: true,
    };
    Stores::start(&parts).unwrap()
}

/// Starts these services, of which the first two are the stores.
fn started(services: &[&str]) -> Stores {
    let mut stores = stores();
    for service in &services[2..] {
        stores.start_service(service, true).unwrap();
    }
    stores
}

/// Returns the strategies that need no service but these. A test of one edit asks for its mechanism alone.
fn strategies(services: &[&str]) -> Vec<Entry> {
    let only = std::env::var("OVERSELL_TEST_MECHANISM").ok();
    let mut strategies = Entry::all();
    strategies.retain(|entry| {
        let is_wanted = only.as_ref().is_none_or(|only| only == entry.mechanism.name);
        is_wanted && entry.needs.iter().all(|need| services.contains(need))
    });
    strategies
}
