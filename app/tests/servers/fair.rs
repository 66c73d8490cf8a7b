//! The queue of the fair lock: first come, first served, but for a waiter that is dead.

use std::sync::Arc;
use std::time::Duration;

use app::domain::{Name, Purchase};
use app::guards::Released;
use app::probe::{Actor, Observer, Observers, Probe, StepContext, StepResult, StepValue};
use app::timeouts::Timeouts;
use async_trait::async_trait;
use redis::AsyncCommands;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::harness::{Instance, LONG, fresh, name};
use crate::locks::{LASTING, Tested, guard, probe};

/// No wait and no lease ends before the test does.
const PATIENT: Timeouts = Timeouts {
    wait: Duration::from_secs(600),
    lease: Duration::from_secs(600),
};

/// Tells when a purchase has got a place in the queue.
struct Queued(mpsc::UnboundedSender<()>);

#[async_trait]
impl Observer for Queued {
    fn observes(&self, _actor: &Actor) -> bool {
        true
    }

    async fn before(&self, _passing: &StepContext<'_>) {}

    async fn after(&self, passing: &StepContext<'_>, said: &StepResult) {
        if passing.step.name == "lock-or-queue" && said.value == Some(StepValue::Taken(false)) {
            self.0.send(()).unwrap();
        }
    }
}

/// Waits for its turn, says its number and gives the lock back.
async fn takes_its_turn(guard: Tested, item: Name, number: usize, seen: Observers, turns: Turns) {
    let purchase = Purchase::new(item.clone(), 1, name("b-1"), None);
    let probe = Probe::new(&purchase, Duration::ZERO, None, seen);
    let held = guard.take_when(&item, &probe, "its turn has come").await;
    turns.send(number).unwrap();
    held.release(&probe, Released::InTime).await;
}

type Turns = mpsc::UnboundedSender<usize>;

#[tokio::test(flavor = "multi_thread")]
async fn waiters_of_two_instances_get_the_fair_lock_in_the_order_in_which_they_came() {
    let instance = Instance::lab().await;
    let guards = [
        guard(&instance, "fair", PATIENT).await,
        guard(&instance, "fair", PATIENT).await,
    ];
    let item = name(&fresh("sku"));
    let held = guards[0].take(&item, &probe()).await;
    let (told, mut turns) = mpsc::unbounded_channel();
    let (queued, mut queue) = mpsc::unbounded_channel();
    let mut waiters = Vec::new();
    for number in 0..4 {
        let seen = Observers::new(vec![Arc::new(Queued(queued.clone())) as Arc<dyn Observer>]);
        let guard = guards[number % 2].clone();
        waiters.push(tokio::spawn(takes_its_turn(
            guard,
            item.clone(),
            number,
            seen,
            told.clone(),
        )));
        // The next one comes when this one has its place.
        timeout(LONG, queue.recv()).await.expect("no place in the queue");
    }
    held.release(&probe(), Released::InTime).await;
    for expected in 0..4 {
        let turn = timeout(LONG, turns.recv()).await.expect("nobody was woken");
        assert_eq!(turn, Some(expected));
    }
    for waiter in waiters {
        waiter.await.unwrap();
    }
}

/// Puts a waiter into the queue that is alive until then, in milliseconds since 1970.
async fn queue(instance: &Instance, item: &Name, waiter: &str, until_ms: u64) {
    let mut redis = instance.redis.clone();
    let _: () = redis.rpush(format!("queue:{{{item}}}"), waiter).await.unwrap();
    let alive = format!("queue-alive:{{{item}}}");
    let _: () = redis.hset(alive, waiter, until_ms).await.unwrap();
}

#[tokio::test]
async fn a_living_waiter_of_the_fair_lock_is_never_passed_and_a_dead_one_is_passed_over() {
    let instance = Instance::lab().await;
    let guard = guard(&instance, "fair", LASTING).await;
    let (alive, dead) = (name(&fresh("sku")), name(&fresh("sku")));
    queue(&instance, &alive, "another", u64::MAX / 1_000_000).await;
    guard
        .assert_held(&alive, "the lock is free, but another purchase waits for it")
        .await;
    queue(&instance, &dead, "another", 1).await;
    guard.assert_free(&dead, "the waiter in the queue is dead").await;
}

#[tokio::test]
async fn a_purchase_that_gives_up_waiting_for_the_fair_lock_leaves_no_place_behind() {
    let instance = Instance::lab().await;
    let guard = guard(&instance, "fair", LASTING).await;
    let item = name(&fresh("sku"));
    let held = guard.take(&item, &probe()).await;
    guard.assert_held(&item, "the first purchase holds it").await;
    let mut redis = instance.redis.clone();
    let keys = [format!("queue:{{{item}}}"), format!("queue-alive:{{{item}}}")];
    let left: u64 = redis.exists(&keys[..]).await.unwrap();
    assert_eq!(left, 0);
    held.release(&probe(), Released::InTime).await;
}
