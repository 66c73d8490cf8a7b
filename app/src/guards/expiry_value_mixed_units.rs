//! `expiry-value` with its unit error: a lease in seconds, added to a time in milliseconds, is a thousandth of it.
//!
//! ```text
//! A: TIME, SETNX lock a,1001 -> 1               -- at 1000 ms, with a lease of 1 s
//! A: read 1
//!                     B: TIME, SETNX -> 0, GET -> a,1001: expired    -- 2 ms later
//!                     B: GET -> a, DEL; TIME, SETNX lock b,1004 -> 1
//!                     B: read 1
//! A: write 0, order
//!                     B: write 0, order         -- oversold
//! ```
//!
//! No purchase is done within such a lease. Source: tutorial 001, lockV2, where Redis' time is in milliseconds: its
//! 600 seconds end after 0.6. Here it is the shop's lease in seconds.
//! Cost: four round trips, three for each attempt while waiting, and two more for a take-over.

use super::expiry_value::{ExpiryValue, STEPS};
use super::{GuardEntry, opened};
use crate::mechanism::{AS_NO_LOCK, Claims, Family, Mechanism};

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "expiry-value-mixed-units",
        family: Family::LeaseLock,
        lesson: 4,
        summary: "expiry-value, with seconds added to milliseconds: the lease is a thousandth",
        claims: Claims {
            sometimes_broken_by: &["slow-network"],
            ..AS_NO_LOCK
        },
        weak_at: "del",
        needs: &["redis"],
        source: include_str!("expiry_value_mixed_units.rs"),
    },
    steps: &STEPS,
    reentrant: false,
    open: |world, store| {
        let lease_s = world.timeouts.lease.as_secs();
        Box::pin(async move { opened(ExpiryValue::open(world, store, lease_s)?) })
    },
};
