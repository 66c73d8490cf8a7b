//! The famous mistakes, each shown without luck: another purchase comes between two commands, never earlier or later.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use app::domain::Name;
use app::guards::Released;
use app::probe::{Actor, Observer, Observers, Probe, StepContext, StepResult};
use app::timeouts::Timeouts;
use async_trait::async_trait;
use futures_util::future::BoxFuture;
use redis::AsyncCommands;
use redis::aio::MultiplexedConnection;
use tokio::sync::Notify;

use crate::harness::{Instance, PATIENT, fresh, name};
use crate::locks::{LASTING, Lock, guard, probe, probe_under};

/// An event just before the first step of that name.
pub struct Before<F> {
    step: &'static str,
    passed: AtomicUsize,
    deed: F,
}

impl<F> Before<F> {
    pub fn passed(&self) -> usize {
        self.passed.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl<F: Fn(String) -> BoxFuture<'static, ()> + Send + Sync> Observer for Before<F> {
    fn observes(&self, _actor: &Actor) -> bool {
        true
    }

    async fn before(&self, passing: &StepContext<'_>) {
        if passing.step.name == self.step && self.passed.fetch_add(1, Ordering::SeqCst) == 0 {
            (self.deed)(passing.key.to_string()).await;
        }
    }

    async fn after(&self, _passing: &StepContext<'_>, _said: &StepResult) {}
}

/// Counts the steps of that name.
pub fn counting(step: &'static str) -> Arc<Before<impl Fn(String) -> BoxFuture<'static, ()> + Send + Sync>> {
    Arc::new(Before {
        step,
        passed: AtomicUsize::new(0),
        deed: |_| -> BoxFuture<'static, ()> { Box::pin(async {}) },
    })
}

/// A purchase that is interrupted just before its first step of that name.
pub fn interrupted(
    step: &'static str,
    deed: impl Fn(String) -> BoxFuture<'static, ()> + Send + Sync + 'static,
) -> Probe {
    let passed = AtomicUsize::new(0);
    probe_under(Observers::new(vec![Arc::new(Before { step, passed, deed })]))
}

/// A purchase whose lease ends just before that step, so that another owner takes the lock.
fn outlived(step: &'static str, redis: &MultiplexedConnection) -> Probe {
    let redis = redis.clone();
    interrupted(step, move |key| {
        let mut redis = redis.clone();
        Box::pin(async move { redis.set(key, "another").await.unwrap() })
    })
}

pub fn an_item() -> (Name, String) {
    let item = name(&fresh("sku"));
    let key = format!("lock:{{{item}}}");
    (item, key)
}

async fn owner(instance: &Instance, key: &str) -> Option<String> {
    instance.redis.clone().get(key).await.unwrap()
}

#[tokio::test]
async fn setnx_expire_leaves_a_lock_for_ever_when_its_holder_dies_between_the_two_and_token_watch_gives_it_a_lease() {
    let instance = Instance::lab().await;
    let (item, key) = an_item();
    let soon = Timeouts {
        wait: Duration::from_millis(200),
        lease: Duration::from_millis(20),
    };
    let setnx_expire = guard(&instance, "setnx-expire", soon).await;
    let (here, dies_here) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let notified = (here.clone(), dies_here.clone());
    let dying = interrupted("expire", move |_| {
        let (here, dies_here) = notified.clone();
        Box::pin(async move {
            here.notify_one();
            dies_here.notified().await;
        })
    });
    tokio::select! {
        _ = setnx_expire.lock(&item, &dying) => panic!("it was to die"),
        () = here.notified() => {}
    }
    let left_ms: i64 = instance.redis.clone().pttl(&key).await.unwrap();
    assert_eq!(left_ms, -1, "no lease");
    setnx_expire
        .assert_held(&item, "its holder died before it gave the lock a lease")
        .await;
    let patient = Timeouts {
        wait: PATIENT.wait,
        ..soon
    };
    let token_watch = guard(&instance, "token-watch", patient).await;
    token_watch
        .assert_free(&item, "it gives a lock without a lease one, and that has ended")
        .await;
}

#[tokio::test]
async fn a_blind_del_deletes_a_lock_that_has_another_owner() {
    let instance = Instance::lab().await;
    for mechanism in ["setnx-expire", "set-px", "getset-time", "version-lock"] {
        let (item, key) = an_item();
        let guard = guard(&instance, mechanism, LASTING).await;
        let late = outlived("del", &instance.redis);
        let held = guard.take(&item, &late).await;
        held.release(&late, Released::InTime).await;
        assert_eq!(owner(&instance, &key).await, None, "{mechanism}");
    }
}

#[tokio::test]
async fn set_px_and_token_count_give_up_after_ten_tries_however_long_the_shop_may_wait() {
    let instance = Instance::lab().await;
    let (item, key) = an_item();
    let _: () = instance.redis.clone().set(&key, "another").await.unwrap();
    for (mechanism, step) in [("set-px", "set-nx"), ("token-count", "get")] {
        let tries = counting(step);
        let counted = probe_under(Observers::new(vec![tries.clone()]));
        let guard = guard(&instance, mechanism, PATIENT).await;
        assert!(
            guard.lock(&item, &counted).await.is_none(),
            "{mechanism}: the lock is held"
        );
        assert_eq!(tries.passed(), 10, "{mechanism}");
    }
}

#[tokio::test]
async fn a_lock_that_changes_hands_between_get_and_del_is_deleted_and_under_watch_it_is_not() {
    let instance = Instance::lab().await;
    for (mechanism, step, left) in [
        ("token-get-del", "del", None),
        ("token-count", "del", None),
        ("expiry-value", "del", None),
        ("interval", "del", None),
        ("token-watch", "exec", Some("another")),
    ] {
        let (item, key) = an_item();
        let guard = guard(&instance, mechanism, LASTING).await;
        let late = outlived(step, &instance.redis);
        let held = guard.take(&item, &late).await;
        let noticed = if left.is_some() {
            Released::TooLate
        } else {
            Released::InTime
        };
        held.release(&late, noticed).await;
        assert_eq!(owner(&instance, &key).await.as_deref(), left, "{mechanism}");
    }
}

#[tokio::test]
async fn locks_that_compare_before_they_delete_leave_one_that_has_another_owner_already() {
    let instance = Instance::lab().await;
    for (mechanism, step) in [
        ("token-get-del", "get"),
        ("token-count", "get-owner"),
        ("expiry-value", "get-owner"),
        ("interval", "get-owner"),
        ("token-watch", "watch"),
    ] {
        let (item, key) = an_item();
        let guard = guard(&instance, mechanism, LASTING).await;
        let late = outlived(step, &instance.redis);
        let held = guard.take(&item, &late).await;
        held.release(&late, Released::TooLate).await;
        assert_eq!(owner(&instance, &key).await.as_deref(), Some("another"), "{mechanism}");
    }
}

#[tokio::test]
async fn getset_time_lets_every_purchase_in_after_one_take_over() {
    let instance = Instance::lab().await;
    let (item, key) = an_item();
    let (one, two) = (
        guard(&instance, "getset-time", LASTING).await,
        guard(&instance, "getset-time", LASTING).await,
    );
    let live = one.lock(&item, &probe()).await;
    two.assert_held(&item, "the time in the value is to come").await;
    drop(live);
    // As another instance sees it whose clock is ahead, or as every instance does when the holder has died.
    let _: () = instance.redis.clone().set(&key, 1).await.unwrap();
    let taken_over = one.lock(&item, &probe()).await;
    assert!(taken_over.is_some());
    let left_ms: i64 = instance.redis.clone().pttl(&key).await.unwrap();
    let lease_ms = LASTING.lease.as_millis().to_string();
    assert_eq!((owner(&instance, &key).await, left_ms), (Some(lease_ms), -1));
    let second = two.lock(&item, &probe()).await;
    assert!(second.is_some() && taken_over.is_some(), "both are inside");
}

#[tokio::test]
async fn expiry_value_lets_two_take_over_the_same_dead_lock() {
    let instance = Instance::lab().await;
    let (item, key) = an_item();
    let _: () = instance.redis.clone().set(&key, "dead,1").await.unwrap();
    let (one, two) = (
        guard(&instance, "expiry-value", PATIENT).await,
        guard(&instance, "expiry-value", PATIENT).await,
    );
    let faster: Arc<Mutex<Option<Lock>>> = Arc::default();
    let (slot, rival) = (faster.clone(), item.clone());
    let slower = interrupted("del", move |_| {
        let (slot, two, rival) = (slot.clone(), two.clone(), rival.clone());
        Box::pin(async move {
            let held = two.lock(&rival, &probe()).await;
            *slot.lock().unwrap() = held;
        })
    });
    let held = one.lock(&item, &slower).await;
    let faster = faster.lock().unwrap().take();
    assert!(held.is_some() && faster.is_some(), "both are inside");
    faster.unwrap().release(&probe(), Released::TooLate).await;
    held.unwrap().release(&probe(), Released::InTime).await;
}
