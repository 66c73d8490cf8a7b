//! Redis reaches its `maxmemory` while a purchase is at work, and evicts the lock of that purchase. Others buy before
//! the purchase goes on. The policy is `volatile-ttl`: the key that expires first goes first. In a Redis that is a
//! cache as well, a lock expires sooner than any entry of the cache, so it is the first victim. A key that never
//! expires stays, as stock, orders and a lock without a lease do, so no store loses anything. A lease is evicted in
//! several phases: before a renewal, after a renewal and right before the write. The round counts only if Redis evicted
//! keys, the lease of the purchase among them, and the trace shows that the purchase held its lock then.

use stack::AtLimit;

use super::Threat;
use crate::attack::Injection;
use crate::audit::ExplainedUnknowns;
use crate::faults::{eviction, hold};

pub(super) const THREAT: Threat = Threat {
    name: "redis-evicts",
    title: "Redis evicts locks",
    mostly_waits: true,
    is_about: |strategy| !eviction::redis_services(strategy).is_empty(),
    phases: eviction::phases_of_leases,
    load: hold::load,
    requires: eviction::requirements,
    injection: Some(Injection {
        places: hold::places,
        explains: ExplainedUnknowns::Nothing,
        ..Injection::new(|control| Box::pin(eviction::evict_during_purchase(control, AtLimit::EvictFirstToExpire)))
    }),
    source: include_str!("redis_evicts.rs"),
    ..Threat::PLAIN
};
