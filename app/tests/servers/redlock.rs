//! A majority of five servers is enough, and the time that is left counts: after the lock is taken, and before the write.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use app::guards::Released;
use app::probe::{Actor, Observer, Observers, StepContext, StepResult};
use app::timeouts::Timeouts;
use async_trait::async_trait;
use stack::ServiceKind;
use tokio::time::sleep;

use crate::harness::{Instance, LONG, fresh, name, stores_of_its_own};
use crate::locks::{LASTING, guard, probe, probe_under};

#[tokio::test]
async fn redlock_locks_while_two_of_five_servers_are_dead_and_not_without_a_third() {
    let stores = stores_of_its_own(&["redis-nodes"]);
    let instance = Instance::on(stores.clone(), |_| {}).await;
    let (item, other) = (name(&fresh("sku")), name(&fresh("sku")));
    let guard = guard(&instance, "redlock", LASTING).await;
    let nodes = stores.processes(ServiceKind::RedisNodes);
    assert_eq!(nodes.len(), 5);
    nodes[..2].iter().for_each(|node| node.kill().unwrap());
    let held = guard.take_when(&item, &probe(), "three of five servers live").await;
    guard.assert_held(&item, "the first one has the majority").await;
    held.release(&probe(), Released::InTime).await;
    guard.assert_free(&item, "the first one has released it").await;
    nodes[2].kill().unwrap();
    guard.assert_held(&other, "two of five servers are no majority").await;
}

/// A purchase whose way to the last of the servers takes this long.
struct Slow {
    by: Duration,
    asked: AtomicUsize,
}

#[async_trait]
impl Observer for Slow {
    fn observes(&self, _actor: &Actor) -> bool {
        true
    }

    async fn before(&self, passing: &StepContext<'_>) {
        if passing.step.name == "set-nx" && self.asked.fetch_add(1, Ordering::SeqCst) == 4 {
            sleep(self.by).await;
        }
    }

    async fn after(&self, _passing: &StepContext<'_>, _said: &StepResult) {}
}

/// The keys of the first servers are gone when the last one answers.
#[tokio::test]
async fn redlock_does_not_count_a_lock_whose_time_was_over_when_the_last_server_answered() {
    let instance = Instance::on(stores_of_its_own(&["redis-nodes"]), |_| {}).await;
    let lease = Duration::from_millis(100);
    // Its wait is over by then: no second attempt follows.
    let wait = Duration::from_millis(1);
    let guard = guard(&instance, "redlock", Timeouts { wait, lease }).await;
    let slow = Arc::new(Slow {
        by: lease,
        asked: AtomicUsize::new(0),
    });
    let purchase = probe_under(Observers::new(vec![slow.clone()]));
    let held = guard.lock(&name(&fresh("sku")), &purchase).await;
    assert_eq!(slow.asked.load(Ordering::SeqCst), 5);
    assert!(held.is_none(), "its time was over before it began");
}

#[tokio::test]
async fn redlock_refuses_the_write_of_a_holder_whose_time_is_over_by_its_own_clock() {
    let instance = Instance::on(stores_of_its_own(&["redis-nodes"]), |_| {}).await;
    let lasting = guard(&instance, "redlock", LASTING).await;
    let mut held = lasting.take(&name(&fresh("sku")), &probe()).await;
    assert!(held.may_write().await);
    let lease = Duration::from_millis(500);
    let short = guard(&instance, "redlock", Timeouts { wait: LONG, lease }).await;
    let mut held = short.take(&name(&fresh("sku")), &probe()).await;
    sleep(lease).await;
    assert!(!held.may_write().await, "its time is over");
    held.release(&probe(), Released::TooLate).await;
}
