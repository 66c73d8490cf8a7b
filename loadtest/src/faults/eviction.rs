//! Redis reaches the limit of its memory and evicts keys of a sale, while a purchase is at work and holds its lock if it
//! has one.

use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use stack::{AtLimit, Lease, MemoryLimit, ServerKind, ServiceKind, Stores};

use super::{hold, moment, restart};
use crate::attack::{AttackControl, Proof};
use crate::deployment::requirement::{Requirement, lock_servers, servers};
use crate::phase::Phase;
use crate::shop::catalogue::Strategy;
use crate::trace::IncidentKind;

/// The longest wait for the lock of that purchase.
const LOCKED_WITHIN: Duration = Duration::from_secs(1);

/// The pause between two looks for it.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// The evictions by Redis during one purchase. The limits end when this is dropped.
struct Evictions {
    limits: Vec<MemoryLimit>,
    proofs: Vec<Proof>,
    begun: Instant,
    /// Whether the keys were evicted, and each lease while it lasted and the purchase was at work.
    have_struck: bool,
}

/// The leases of a sale in one Redis.
struct Found {
    leases: Vec<Lease>,
    /// They were taken after that.
    taken_after: Instant,
}

/// Returns the services of a strategy that are each one Redis, or several that know nothing of each other. The memory of a node of a
/// cluster is not limited.
pub(crate) fn redis_services(strategy: &Strategy) -> Vec<ServiceKind> {
    let all = servers(strategy).into_iter();
    all.filter(|kind| matches!(kind, ServiceKind::Redis | ServiceKind::RedisNodes))
        .collect()
}

/// Returns what has to be started here to limit the memory of these services.
pub(crate) fn requirements(strategy: &Strategy) -> Vec<Requirement> {
    redis_services(strategy).into_iter().map(Requirement::Service).collect()
}

/// Returns the phases in which a lease of the strategy may be evicted.
pub(crate) fn phases_of_leases(strategy: &Strategy) -> Vec<Phase> {
    match lease_services(strategy).as_slice() {
        [] => Vec::new(),
        _ => Phase::of_lock(strategy),
    }
}

/// Returns the phases in which a lock of the strategy may be evicted, with all other keys.
pub(crate) fn phases(strategy: &Strategy) -> Vec<Phase> {
    let redis = redis_services(strategy).into_iter();
    let of_each = redis.map(|kind| Phase::of_lock_in(strategy, kind));
    of_each.min_by_key(Vec::len).unwrap_or_default()
}

/// Lets Redis evict the sale's leases, or all keys of the sale where it spares none, in the middle of a purchase. Others
/// buy before the purchase goes on. Returns whether the keys were evicted in time.
pub(crate) async fn evict_during_purchase(control: &AttackControl<'_>, at_limit: AtLimit) -> Result<bool> {
    let has_begun = restart::play_first_wave(control).await;
    let sale = &control.attack.sale;
    let item = sale.sales.first().context("a sale without items")?.item.clone();
    let services = redis_services(&sale.strategy);
    // In a phase of its lease the trace has shown that the purchase holds its lock.
    let awaited = match control.attack.phase {
        Some(_) => Vec::new(),
        None => lease_services(&sale.strategy),
    };
    let sent = Instant::now();
    let evict = move |stores: &Stores| {
        let mut evictions = Evictions::none();
        for kind in services {
            evictions.cause(stores, kind, &item, at_limit, (sent, awaited.contains(&kind)))?;
        }
        Ok(evictions)
    };
    let evictions = moment::lose_lock(control, hold::BELOW_A_LEASE, restart::on_stores(control, evict)).await?;
    let (begun, have_struck) = (evictions.begun, evictions.have_struck);
    control.keep_proofs(evictions.proofs);
    let limits = evictions.limits;
    restart::on_stores(control, move |_| {
        drop(limits);
        Ok(())
    })
    .await?;
    control.note(IncidentKind::Evicted, "Redis", begun, Some(Instant::now()));
    Ok(has_begun && have_struck)
}

impl Evictions {
    fn none() -> Self {
        Self {
            limits: Vec::new(),
            proofs: Vec::new(),
            begun: Instant::now(),
            have_struck: true,
        }
    }

    /// Lets each process of a service evict keys of a purchase that was `sent` then.
    fn cause(
        &mut self,
        stores: &Stores,
        kind: ServiceKind,
        item: &str,
        at_limit: AtLimit,
        (sent, awaits_lease): (Instant, bool),
    ) -> Result<()> {
        let processes = stores.processes(kind);
        for (process, nth) in processes.iter().zip(1..) {
            let mut limit = stores.limit_memory(process, at_limit)?;
            let Found { leases, taken_after } = find_leases(&mut limit, item, sent, awaits_lease)?;
            let victims = match at_limit {
                AtLimit::EvictLeastRecentlyUsed => limit.keys(item)?,
                AtLimit::EvictFirstToExpire | AtLimit::Refuse => keys(&leases),
            };
            self.have_struck &= limit.evict(&victims)?;
            // Later the purchase may have released its lock itself.
            let is_in_time = |lease: &Lease| Instant::now() < lease.ends.min(taken_after + hold::BELOW_A_LEASE);
            self.have_struck &= leases.iter().all(is_in_time);
            let proof = said(limit.evicted()?, &victims);
            self.proofs.push(Proof::new(kind.process(nth, processes.len()), proof));
            self.limits.push(limit);
        }
        Ok(())
    }
}

/// Returns the services in which a lock is a key that expires, as far as the family says so.
fn lease_services(strategy: &Strategy) -> Vec<ServiceKind> {
    let others = lock_servers(strategy);
    let mut holders = if others.is_empty() { servers(strategy) } else { others };
    holders.retain(|kind| strategy.family() == "lease-lock" && kind.program() == ServerKind::Redis);
    holders
}

/// Looks for the leases of an item, and once more until there is one where a lock is awaited: on a busy machine the
/// purchase may take it late. Some locks of that family are keys that never expire.
fn find_leases(limit: &mut MemoryLimit, item: &str, sent: Instant, awaits_lease: bool) -> Result<Found> {
    let begun = Instant::now();
    let mut taken_after = sent;
    loop {
        let looked = Instant::now();
        let leases = limit.leases(item)?;
        if !leases.is_empty() || !awaits_lease || begun.elapsed() >= LOCKED_WITHIN {
            return Ok(Found { leases, taken_after });
        }
        taken_after = looked;
        thread::sleep(LOOK_EVERY);
    }
}

fn keys(leases: &[Lease]) -> Vec<String> {
    leases.iter().map(|lease| lease.key.clone()).collect()
}

/// The most keys that a proof names.
const MOST_NAMED: usize = 5;

fn said(evicted: u64, victims: &[String]) -> String {
    if victims.is_empty() {
        format!("{evicted} keys were evicted, and none of the sale's keys here was one that expires")
    } else {
        let named: Vec<&str> = victims.iter().take(MOST_NAMED).map(String::as_str).collect();
        let (of_sale, named) = (victims.len(), named.join(", "));
        format!("{evicted} keys were evicted, among them {of_sale} of the sale, such as {named}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_lease_is_awaited_only_where_the_lock_is_a_key_in_redis() {
        let table = [
            ("token@redis", "redis", "lease-lock", &["redis"][..], &["redis"][..]),
            ("token@sql", "sql", "lease-lock", &["redis", "sql"], &["redis"]),
            (
                "redlock@redis",
                "redis",
                "lease-lock",
                &["redis", "redis-nodes"],
                &["redis-nodes"],
            ),
            ("lock-table@redis", "redis", "lease-lock", &["redis", "sql"], &[]),
            ("etcd@redis", "redis", "lease-lock", &["etcd", "redis"], &[]),
            ("setnx@sql", "sql", "lock-without-lease", &["redis", "sql"], &[]),
            ("lua@redis", "redis", "atomic", &["redis"], &[]),
        ];
        for (name, store, family, needs, awaited) in table {
            let strategy = json!({ "name": name, "store": store, "family": family, "needs": needs, "claims": [] });
            let strategy: Strategy = serde_json::from_value(strategy).unwrap_or_else(|why| panic!("{name}: {why}"));
            let services: Vec<_> = lease_services(&strategy).into_iter().map(ServiceKind::name).collect();
            assert_eq!(services, awaited, "{name}");
        }
    }
}
