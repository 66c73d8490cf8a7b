//! Redis reaches its `maxmemory` while a purchase is at work, and evicts any key (`allkeys-lru`), as a mere cache may.
//! Entries of the cache are newer than the keys of the sale, so that stock, orders and locks go. A lock that lies there
//! alone goes in several phases: before a renewal, after a renewal and right before the write. The round counts only if
//! Redis evicted keys, and every key of the sale among them, and the trace shows that the purchase held its lock then.

use stack::AtLimit;

use super::Threat;
use crate::attack::Injection;
use crate::audit::ExplainedUnknowns;
use crate::faults::{eviction, hold};

pub(super) const THREAT: Threat = Threat {
    name: "redis-evicts-all",
    title: "Redis evicts all keys",
    mostly_waits: true,
    empties_a_store: true,
    is_about: |strategy| !eviction::redis_services(strategy).is_empty(),
    phases: eviction::phases,
    load: hold::load,
    requires: eviction::requirements,
    injection: Some(Injection {
        places: hold::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| {
            Box::pin(eviction::evict_during_purchase(
                control,
                AtLimit::EvictLeastRecentlyUsed,
            ))
        })
    }),
    source: include_str!("redis_evicts_all.rs"),
    ..Threat::PLAIN
};
