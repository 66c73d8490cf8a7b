//! Schedules of the strategies, played on real stores.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod claims;
mod headers;
mod search;

use app::strategies::Entry;
use explore::Arrivals;
use stack::{Parts, Stores};

/// The services that a test of many strategies starts.
const STARTED: [&str; 4] = ["redis", "sql", "sql-2", "redis-nodes"];

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

/// Starts the stores and the services of many strategies.
fn all_stores() -> Stores {
    let mut stores = stores();
    for service in &STARTED[2..] {
        stores.start_service(service, true).unwrap();
    }
    stores
}

/// Returns the strategies that need no other service. A test of one edit asks for its mechanism alone.
fn strategies() -> Vec<Entry> {
    let only = std::env::var("OVERSELL_TEST_MECHANISM").ok();
    let mut strategies = Entry::all();
    strategies.retain(|entry| {
        let is_wanted = only.as_ref().is_none_or(|only| only == entry.mechanism.name);
        is_wanted && entry.needs.iter().all(|need| STARTED.contains(need))
    });
    strategies
}
