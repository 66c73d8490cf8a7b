//! Guards without a sale around them: which purchase gets the lock, which one waits, and whose lock a release deletes.

use std::time::Duration;

use app::guards::{GuardEntry, Released};
use app::mechanism::Family;
use app::strategies::Entry;
use app::timeouts::Timeouts;
use app::world::World;
use redis::AsyncCommands;

use crate::harness::{Instance, LONG, fresh, name};
use crate::locks::{LASTING, Tested, guard, probe, usable, world};

/// Whether strategies with this guard claim to survive `threat`.
fn survives(guard: &GuardEntry, threat: &str) -> bool {
    let entries = Entry::all();
    let mut guarded = entries
        .iter()
        .filter(|entry| entry.mechanism.name == guard.mechanism.name);
    guarded.any(|entry| entry.claims().contains(&threat))
}

/// The guards that claim to survive `threat` and can be used in `world`.
fn claiming<'a>(world: &'a World, threat: &'a str) -> impl Iterator<Item = &'static GuardEntry> + 'a {
    usable(world).filter(move |entry| survives(entry, threat))
}

#[tokio::test]
async fn every_guard_that_claims_anything_lets_one_in_at_a_time_and_the_next_one_after_it() {
    let instance = Instance::lab().await;
    let world = world(&instance, LASTING).await;
    let (item, other) = (name(&fresh("sku")), name(&fresh("sku")));
    for entry in claiming(&world, "crowd") {
        let guard = Tested::open(entry, &world).await;
        let held = guard.take(&item, &probe()).await;
        guard.assert_held(&item, "the first one holds the lock").await;
        if survives(entry, "second-instance") {
            let elsewhere = self::guard(&instance, guard.name, LASTING).await;
            let when = "the first one holds the lock at another instance";
            elsewhere.assert_held(&item, when).await;
            let next = guard.take_when(&other, &probe(), "only another item is locked").await;
            next.release(&probe(), Released::InTime).await;
        }
        held.release(&probe(), Released::InTime).await;
        let next = guard.take_when(&item, &probe(), "the first one has released it").await;
        next.release(&probe(), Released::InTime).await;
    }
}

#[tokio::test]
async fn token_leaves_a_lock_that_has_another_owner_and_notices_the_loss() {
    let instance = Instance::lab().await;
    let mut redis = instance.redis.clone();
    let item = name(&fresh("sku"));
    let key = format!("lock:{{{item}}}");
    let held = guard(&instance, "token", LASTING).await.take(&item, &probe()).await;
    let _: () = redis.set(&key, "another").await.unwrap();
    held.release(&probe(), Released::TooLate).await;
    let owner: String = redis.get(&key).await.unwrap();
    assert_eq!(owner, "another");
}

#[tokio::test]
async fn watchdog_leaves_a_lock_that_has_another_owner_and_notices_the_loss() {
    let instance = Instance::lab().await;
    let mut redis = instance.redis.clone();
    let item = name(&fresh("sku"));
    let key = format!("lock:{{{item}}}");
    let held = guard(&instance, "watchdog", LASTING).await.take(&item, &probe()).await;
    let _: () = redis.del(&key).await.unwrap();
    let _: () = redis.hset(&key, "another", 1).await.unwrap();
    held.release(&probe(), Released::TooLate).await;
    let count: i64 = redis.hget(&key, "another").await.unwrap();
    assert_eq!(count, 1);
}

/// The flaw of this guard, and the reason for the next lesson.
#[tokio::test]
async fn setnx_deletes_a_lock_that_has_another_owner() {
    let instance = Instance::lab().await;
    let mut redis = instance.redis.clone();
    let item = name(&fresh("sku"));
    let key = format!("lock:{{{item}}}");
    let held = guard(&instance, "setnx", LASTING).await.take(&item, &probe()).await;
    let _: () = redis.set(&key, "another").await.unwrap();
    held.release(&probe(), Released::InTime).await;
    let exists: bool = redis.exists(&key).await.unwrap();
    assert!(!exists);
}

#[tokio::test]
async fn a_guard_that_claims_to_survive_a_crashed_holder_lets_the_next_one_in_when_the_lease_ends() {
    let instance = Instance::lab().await;
    let crashed = world(
        &instance,
        Timeouts {
            wait: LONG,
            lease: Duration::from_millis(100),
        },
    )
    .await;
    let living = world(&instance, Timeouts { wait: LONG, ..LASTING }).await;
    let item = name(&fresh("sku"));
    for entry in claiming(&living, "crashed-holder") {
        drop(Tested::open(entry, &crashed).await.take(&item, &probe()).await);
        let guard = Tested::open(entry, &living).await;
        let next = guard
            .take_when(&item, &probe(), "the holder crashed, and its lease has ended")
            .await;
        next.release(&probe(), Released::InTime).await;
    }
}

#[tokio::test]
async fn setnx_never_lets_a_purchase_in_after_a_crashed_holder() {
    let instance = Instance::lab().await;
    let timeouts = Timeouts {
        wait: Duration::from_millis(200),
        lease: Duration::from_millis(20),
    };
    let item = name(&fresh("sku"));
    let guard = guard(&instance, "setnx", timeouts).await;
    drop(guard.take(&item, &probe()).await);
    guard
        .assert_held(&item, "the holder crashed, and the lock has no lease")
        .await;
}

#[tokio::test]
async fn watchdog_and_etcd_keep_a_lock_for_longer_than_its_lease_while_their_holder_lives() {
    let instance = Instance::lab().await;
    let lease = Duration::from_secs(2);
    // The other purchase waits for longer than a lease runs without renewal.
    let timeouts = Timeouts { wait: 2 * lease, lease };
    for mechanism in ["watchdog", "etcd"] {
        if mechanism == "etcd" && instance.shop.world.services.url("etcd").is_err() {
            continue;
        }
        let item = name(&fresh("sku"));
        let held = guard(&instance, mechanism, timeouts).await.take(&item, &probe()).await;
        let elsewhere = guard(&instance, mechanism, timeouts).await;
        elsewhere.assert_held(&item, "the holder renews its lease").await;
        held.release(&probe(), Released::InTime).await;
    }
}

#[tokio::test]
async fn watchdog_lets_the_same_purchase_in_again_and_no_other_one_before_it_has_left_as_often() {
    let instance = Instance::lab().await;
    let item = name(&fresh("sku"));
    let guard = guard(&instance, "watchdog", LASTING).await;
    let purchase = probe();
    let outer = guard.take(&item, &purchase).await;
    let inner = guard.take_when(&item, &purchase, "the same purchase holds it").await;
    guard.assert_held(&item, "a purchase has entered twice").await;
    inner.release(&purchase, Released::InTime).await;
    guard
        .assert_held(&item, "a purchase has entered twice and left once")
        .await;
    outer.release(&purchase, Released::InTime).await;
    guard
        .assert_free(&item, "the purchase has left as often as it entered")
        .await;
}

#[tokio::test]
async fn a_purchase_that_enters_twice_is_let_in_by_a_reentrant_lock_and_waits_for_itself_at_any_other() {
    let instance = Instance::lab().await;
    let world = world(&instance, LASTING).await;
    for entry in usable(&world) {
        let (item, guard, purchase) = (name(&fresh("sku")), Tested::open(entry, &world).await, probe());
        let outer = guard.take(&item, &purchase).await;
        let inner = guard.lock(&item, &purchase).await;
        assert_eq!(inner.is_some(), entry.reentrant, "{}: let in a second time", guard.name);
        if let Some(inner) = inner {
            inner.release(&purchase, Released::InTime).await;
        }
        outer.release(&purchase, Released::InTime).await;
    }
}

#[tokio::test]
async fn a_guard_that_forgets_an_item_lets_the_next_one_in() {
    let instance = Instance::lab().await;
    let world = world(&instance, LASTING).await;
    let item = name(&fresh("sku"));
    for entry in claiming(&world, "second-instance") {
        let guard = Tested::open(entry, &world).await;
        let held = guard.take(&item, &probe()).await;
        if entry.mechanism.family == Family::SessionLock {
            drop(held);
            guard.assert_free(&item, "the connection of its holder has ended").await;
        } else {
            held.abandon();
            guard
                .assert_held(&item, "its holder is gone, and the lease has not ended")
                .await;
        }
        guard.forget(&item).await;
        guard.assert_free(&item, "the item is forgotten").await;
        guard.forget(&item).await;
    }
}
