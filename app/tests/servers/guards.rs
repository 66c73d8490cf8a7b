//! The guards by themselves: who is let in, who is kept out, and whose lock is deleted.

use std::sync::Arc;
use std::time::Duration;

use app::guards::{self, Guard, Released, Timeouts};
use app::probe::{Observers, Probe};
use app::sale::{Name, Purchase, Threat};
use app::shop::Settings;
use redis::AsyncCommands;
use tokio::time::timeout;

use crate::harness::{Instance, LONG, PurchaseRequest, fresh, name, until};

/// A wait that a lock which is held outlasts, whatever the machine.
const SHORT: Duration = Duration::from_millis(50);

const LASTING: Timeouts = Timeouts {
    wait: SHORT,
    lease: LONG,
};

fn nobody() -> Observers {
    Observers::new(Vec::new())
}

fn probe() -> Probe {
    let purchase = Purchase::new(name("sku"), 1, name("b-1"), None);
    Probe::new(&purchase, Duration::ZERO, None, nobody())
}

fn guard(instance: &Instance, mechanism: &str, timeouts: Timeouts) -> Arc<dyn Guard> {
    let all = guards::all(&instance.shop.stores.redis, timeouts, &nobody());
    let found = all.into_iter().find(|guard| guard.about().name == mechanism);
    found.unwrap()
}

async fn is_let_in(guard: &dyn Guard, item: &Name) -> bool {
    let locking = timeout(LONG, guard.lock(item, &probe())).await;
    locking.expect("the wait has no end").unwrap().is_some()
}

#[tokio::test]
async fn every_guard_that_claims_anything_lets_one_in_at_a_time_and_the_next_one_after_it() {
    let instance = Instance::lab().await;
    let (item, other) = (name(&fresh("sku")), name(&fresh("sku")));
    for guard in guards::all(&instance.shop.stores.redis, LASTING, &nobody()) {
        let about = guard.about();
        if about.claims.is_empty() {
            continue;
        }
        let held = guard.lock(&item, &probe()).await.unwrap().unwrap();
        assert!(!is_let_in(guard.as_ref(), &item).await, "{}", about.name);
        if about.claims.contains(&Threat::SecondInstance) {
            let elsewhere = self::guard(&instance, about.name, LASTING);
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
    let item = name(&fresh("sku"));
    for guard in guards::all(&instance.shop.stores.redis, timeouts, &nobody()) {
        let about = guard.about();
        if about.claims.contains(&Threat::CrashedHolder) {
            drop(guard.lock(&item, &probe()).await.unwrap().unwrap());
            let next = guard.lock(&item, &probe()).await.unwrap();
            assert!(next.is_some(), "{}", about.name);
            assert_eq!(next.unwrap().release(&probe()).await.unwrap(), Released::InTime);
        }
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
    let guard = guard(&instance, "setnx", timeouts);
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
        .lock(&item, &probe())
        .await
        .unwrap()
        .unwrap();
    // The other one waits for longer than a lease runs without renewal.
    let elsewhere = guard(&instance, "watchdog", timeouts);
    assert!(!is_let_in(elsewhere.as_ref(), &item).await);
    assert_eq!(held.release(&probe()).await.unwrap(), Released::InTime);
}

#[tokio::test]
async fn watchdog_lets_the_same_purchase_in_again_and_nobody_else_before_it_has_left_as_often() {
    let instance = Instance::lab().await;
    let item = name(&fresh("sku"));
    let guard = guard(&instance, "watchdog", LASTING);
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
async fn a_guard_that_forgets_an_item_lets_the_next_one_in() {
    let instance = Instance::lab().await;
    let item = name(&fresh("sku"));
    for guard in guards::all(&instance.shop.stores.redis, LASTING, &nobody()) {
        if guard.about().claims.contains(&Threat::SecondInstance) {
            drop(guard.lock(&item, &probe()).await.unwrap().unwrap());
            assert!(!is_let_in(guard.as_ref(), &item).await, "{}", guard.about().name);
            guard.forget(&item).await.unwrap();
            assert!(is_let_in(guard.as_ref(), &item).await, "{}", guard.about().name);
            guard.forget(&item).await.unwrap();
        }
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
