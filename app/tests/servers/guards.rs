//! The guards by themselves: who is let in, who is kept out, and whose lock is deleted.

use std::sync::Arc;
use std::time::Duration;

use app::domain::{Name, Purchase};
use app::guards::{self, Guard, GuardEntry, Released};
use app::instance::Settings;
use app::mechanism::Family;
use app::probe::{Observers, Probe};
use app::timeouts::Timeouts;
use app::world::World;
use redis::AsyncCommands;
use tokio::time::timeout;

use crate::harness::{Instance, LONG, PurchaseRequest, fresh, is_tried, name, until};

/// A wait that a lock which is held outlasts, whatever the machine.
const SHORT: Duration = Duration::from_millis(50);

/// Nobody who is kept out waits long, and no lease ends.
pub const LASTING: Timeouts = Timeouts {
    wait: SHORT,
    lease: LONG,
};

fn nobody() -> Observers {
    Observers::new(Vec::new())
}

pub fn probe() -> Probe {
    probe_under(nobody())
}

/// Another purchase's, with these at the seam.
pub fn probe_under(observers: Observers) -> Probe {
    let purchase = Purchase::new(name("sku"), 1, name("b-1"), None);
    Probe::new(&purchase, Duration::ZERO, None, observers)
}

/// Another world on the same services: what is opened in it is another instance's.
async fn world(instance: &Instance, timeouts: Timeouts) -> World {
    let services = instance.shop.world.services.clone();
    let opened = World::open(services, name("app"), timeouts, nobody());
    opened.await.unwrap()
}

pub async fn guard(instance: &Instance, mechanism: &str, timeouts: Timeouts) -> Arc<dyn Guard> {
    let entry = guards::ALL.iter().find(|entry| entry.mechanism.name == mechanism);
    (entry.unwrap().open)(&world(instance, timeouts).await).await.unwrap()
}

/// The guards that claim to survive `threat` and can be used in `world`.
fn claiming<'a>(world: &'a World, threat: &'a str) -> impl Iterator<Item = &'static GuardEntry> + 'a {
    let claiming = guards::ALL
        .iter()
        .filter(move |entry| is_tried(entry.mechanism.name) && entry.mechanism.survives().contains(&threat));
    claiming.filter(|entry| {
        entry
            .mechanism
            .needs
            .iter()
            .all(|need| world.services.urls(need).is_ok())
    })
}

pub async fn is_let_in(guard: &dyn Guard, item: &Name) -> bool {
    let locking = timeout(LONG, guard.lock(item, &probe())).await;
    locking.expect("the wait has no end").unwrap().is_some()
}

#[tokio::test]
async fn every_guard_that_claims_anything_lets_one_in_at_a_time_and_the_next_one_after_it() {
    let instance = Instance::lab().await;
    let world = world(&instance, LASTING).await;
    let (item, other) = (name(&fresh("sku")), name(&fresh("sku")));
    for entry in claiming(&world, "crowd") {
        let about = entry.mechanism;
        let guard = (entry.open)(&world).await.unwrap();
        let held = guard.lock(&item, &probe()).await.unwrap().unwrap();
        assert!(!is_let_in(guard.as_ref(), &item).await, "{}", about.name);
        if about.survives().contains(&"second-instance") {
            let elsewhere = self::guard(&instance, about.name, LASTING).await;
            assert!(!is_let_in(elsewhere.as_ref(), &item).await, "{}", about.name);
            let next = guard.lock(&other, &probe()).await.unwrap().unwrap();
            next.release(&probe()).await.unwrap();
        }
        assert_eq!(
            held.release(&probe()).await.unwrap(),
            Released::InTime,
            "{}",
            about.name
        );
        let next = guard.lock(&item, &probe()).await.unwrap().unwrap();
        next.release(&probe()).await.unwrap();
    }
}

#[tokio::test]
async fn token_leaves_a_lock_that_has_another_owner_and_notices_the_loss() {
    let instance = Instance::lab().await;
    let mut redis = instance.redis.clone();
    let item = name(&fresh("sku"));
    let key = format!("lock:{{{item}}}");
    let held = guard(&instance, "token", LASTING)
        .await
        .lock(&item, &probe())
        .await
        .unwrap()
        .unwrap();
    let _: () = redis.set(&key, "another").await.unwrap();
    assert_eq!(held.release(&probe()).await.unwrap(), Released::TooLate);
    let owner: String = redis.get(&key).await.unwrap();
    assert_eq!(owner, "another");
}

#[tokio::test]
async fn watchdog_leaves_a_lock_that_has_another_owner_and_notices_the_loss() {
    let instance = Instance::lab().await;
    let mut redis = instance.redis.clone();
    let item = name(&fresh("sku"));
    let key = format!("lock:{{{item}}}");
    let held = guard(&instance, "watchdog", LASTING)
        .await
        .lock(&item, &probe())
        .await
        .unwrap()
        .unwrap();
    let _: () = redis.del(&key).await.unwrap();
    let _: () = redis.hset(&key, "another", 1).await.unwrap();
    assert_eq!(held.release(&probe()).await.unwrap(), Released::TooLate);
    let count: i64 = redis.hget(&key, "another").await.unwrap();
    assert_eq!(count, 1);
}

/// What is wrong with it, and the reason for the next lesson.
#[tokio::test]
async fn setnx_deletes_a_lock_that_has_another_owner() {
    let instance = Instance::lab().await;
    let mut redis = instance.redis.clone();
    let item = name(&fresh("sku"));
    let key = format!("lock:{{{item}}}");
    let held = guard(&instance, "setnx", LASTING)
        .await
        .lock(&item, &probe())
        .await
        .unwrap()
        .unwrap();
    let _: () = redis.set(&key, "another").await.unwrap();
    assert_eq!(held.release(&probe()).await.unwrap(), Released::InTime);
    let exists: bool = redis.exists(&key).await.unwrap();
    assert!(!exists);
}

#[tokio::test]
async fn who_claims_to_survive_a_crashed_holder_lets_the_next_one_in_when_its_lease_ends() {
    let instance = Instance::lab().await;
    let timeouts = Timeouts {
        wait: LONG,
        lease: Duration::from_millis(100),
    };
    let world = world(&instance, timeouts).await;
    let item = name(&fresh("sku"));
    for entry in claiming(&world, "crashed-holder") {
        let guard = (entry.open)(&world).await.unwrap();
        drop(guard.lock(&item, &probe()).await.unwrap().unwrap());
        let next = guard.lock(&item, &probe()).await.unwrap();
        assert!(next.is_some(), "{}", entry.mechanism.name);
        assert_eq!(next.unwrap().release(&probe()).await.unwrap(), Released::InTime);
    }
}

#[tokio::test]
async fn setnx_never_lets_anybody_in_after_a_crashed_holder() {
    let instance = Instance::lab().await;
    let timeouts = Timeouts {
        wait: Duration::from_millis(200),
        lease: Duration::from_millis(20),
    };
    let item = name(&fresh("sku"));
    let guard = guard(&instance, "setnx", timeouts).await;
    drop(guard.lock(&item, &probe()).await.unwrap().unwrap());
    assert!(!is_let_in(guard.as_ref(), &item).await);
}

#[tokio::test]
async fn watchdog_keeps_a_lock_for_longer_than_its_lease_while_its_holder_lives() {
    let instance = Instance::lab().await;
    let timeouts = Timeouts {
        wait: Duration::from_millis(1_000),
        lease: Duration::from_millis(400),
    };
    let item = name(&fresh("sku"));
    let held = guard(&instance, "watchdog", timeouts)
        .await
        .lock(&item, &probe())
        .await
        .unwrap()
        .unwrap();
    // The other one waits for longer than a lease runs without renewal.
    let elsewhere = guard(&instance, "watchdog", timeouts).await;
    assert!(!is_let_in(elsewhere.as_ref(), &item).await);
    assert_eq!(held.release(&probe()).await.unwrap(), Released::InTime);
}

#[tokio::test]
async fn watchdog_lets_the_same_purchase_in_again_and_nobody_else_before_it_has_left_as_often() {
    let instance = Instance::lab().await;
    let item = name(&fresh("sku"));
    let guard = guard(&instance, "watchdog", LASTING).await;
    let purchase = probe();
    let outer = guard.lock(&item, &purchase).await.unwrap().unwrap();
    let inner = guard.lock(&item, &purchase).await.unwrap().unwrap();
    assert!(!is_let_in(guard.as_ref(), &item).await);
    assert_eq!(inner.release(&purchase).await.unwrap(), Released::InTime);
    assert!(!is_let_in(guard.as_ref(), &item).await, "the outer one still holds it");
    assert_eq!(outer.release(&purchase).await.unwrap(), Released::InTime);
    assert!(is_let_in(guard.as_ref(), &item).await);
}

#[tokio::test]
async fn a_purchase_that_enters_twice_is_let_in_by_a_reentrant_lock_and_waits_for_itself_at_any_other() {
    let instance = Instance::lab().await;
    let world = world(&instance, LASTING).await;
    for entry in guards::ALL {
        let called = entry.mechanism.name;
        if entry
            .mechanism
            .needs
            .iter()
            .any(|need| world.services.urls(need).is_err())
        {
            continue;
        }
        let (item, guard, purchase) = (name(&fresh("sku")), (entry.open)(&world).await.unwrap(), probe());
        let outer = guard.lock(&item, &purchase).await.unwrap().unwrap();
        let inner = timeout(LONG, guard.lock(&item, &purchase)).await;
        let inner = inner.expect("the wait has no end").unwrap();
        assert_eq!(inner.is_some(), entry.reentrant, "{called}");
        if let Some(inner) = inner {
            assert_eq!(inner.release(&purchase).await.unwrap(), Released::InTime, "{called}");
        }
        assert_eq!(outer.release(&purchase).await.unwrap(), Released::InTime, "{called}");
    }
}

#[tokio::test]
async fn a_guard_that_forgets_an_item_lets_the_next_one_in() {
    let instance = Instance::lab().await;
    let world = world(&instance, LASTING).await;
    let item = name(&fresh("sku"));
    for entry in claiming(&world, "second-instance") {
        let (called, guard) = (entry.mechanism.name, (entry.open)(&world).await.unwrap());
        let held = guard.lock(&item, &probe()).await.unwrap().unwrap();
        match called {
            // It gives back what is dropped.
            "baton" => std::mem::forget(held),
            _ => drop(held),
        }
        // A lock that is held by a connection ends with it.
        let outlives_its_holder = entry.mechanism.family != Family::SessionLock;
        assert_eq!(is_let_in(guard.as_ref(), &item).await, !outlives_its_holder, "{called}");
        guard.forget(&item).await.unwrap();
        assert!(is_let_in(guard.as_ref(), &item).await, "{called}");
        guard.forget(&item).await.unwrap();
    }
}

#[tokio::test]
async fn a_watchdog_whose_lock_is_gone_before_the_write_writes_nothing_and_says_busy() {
    let hasty = |settings: &mut Settings| settings.timeouts.lease = Duration::from_millis(300);
    let instance = Instance::open(hasty).await;
    for (strategy, store) in [("watchdog@redis", "redis"), ("watchdog@sql", "sql")] {
        let item = instance.sale(1).await;
        let request = PurchaseRequest::of(&item).by(strategy).work_ms(1_500);
        let robbed = async {
            let mut redis = instance.redis.clone();
            until("the lock is gone", async || {
                let deleted: u64 = redis.clone().del(format!("lock:{{{item}}}")).await.unwrap();
                deleted == 1
            })
            .await;
            let _: bool = redis.hset(format!("lock:{{{item}}}"), "another", 1).await.unwrap();
        };
        let (answer, ()) = tokio::join!(instance.buy(&request), robbed);
        assert_eq!(answer.problem(), (503, "busy".to_owned()), "{strategy}");
        assert_eq!(
            instance.ledger(store, &item).await.left_and_sold(),
            (1, 0),
            "{strategy}"
        );
    }
}
