//! Schedules of the strategies, played on real stores.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

mod claims;
mod search;

use stack::{Parts, Stores};

/// Starts stores that no other test uses.
fn stores() -> Stores {
    let parts = Parts {
        redis_url: None,
        sql_url: None,
        fetch: true,
    };
    Stores::start(&parts).unwrap()
}
