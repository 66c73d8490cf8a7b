//! ZooKeeper and etcd let in one purchase after the other, in a queue in which a waiter can lose its place.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use app::domain::Purchase;
use app::guards::Released;
use app::probe::{Actor, Observer, Observers, Probe, StepContext, StepResult};
use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use zookeeper_client::{Client, Error};

use crate::harness::{Instance, PATIENT, fresh, name, stores_of_its_own, until};
use crate::locks::{LASTING, guard, probe};

/// Counts the waits that began and those that ended.
#[derive(Default)]
struct Waits {
    begun: AtomicUsize,
    ended: AtomicUsize,
}

impl Waits {
    fn probe(self: &Arc<Self>) -> Probe {
        let purchase = Purchase::new(name("sku"), 1, name("b-1"), None);
        Probe::new(&purchase, Duration::ZERO, None, Observers::new(vec![self.clone()]))
    }
}

#[async_trait]
impl Observer for Waits {
    fn observes(&self, _actor: &Actor) -> bool {
        true
    }

    async fn before(&self, passing: &StepContext<'_>) {
        let waits = passing.step.name == "wait";
        self.begun.fetch_add(usize::from(waits), Ordering::SeqCst);
    }

    async fn after(&self, passing: &StepContext<'_>, _said: &StepResult) {
        let waited = passing.step.name == "wait";
        self.ended.fetch_add(usize::from(waited), Ordering::SeqCst);
    }
}

#[tokio::test]
async fn waiters_are_let_in_in_the_order_in_which_they_came_and_only_the_next_one_wakes_up() {
    let instance = Instance::lab().await;
    for mechanism in ["zookeeper", "etcd"] {
        if instance.shop.world.services.url(mechanism).is_err() {
            continue;
        }
        let (item, waits) = (name(&fresh("sku")), Arc::<Waits>::default());
        let guard = guard(&instance, mechanism, PATIENT).await;
        let first = guard.take(&item, &probe()).await;
        let order = Arc::<Mutex<Vec<usize>>>::default();
        let mut waiting = Vec::new();
        for number in 1..=3 {
            let (guard, item, order, waits) = (guard.clone(), item.clone(), order.clone(), waits.clone());
            let begun = waits.clone();
            waiting.push(tokio::spawn(async move {
                let held = guard.take_when(&item, &waits.probe(), "its turn has come").await;
                // No waiter after this one has been woken yet.
                assert_eq!(waits.ended.load(Ordering::SeqCst), number, "{mechanism}");
                order.lock().await.push(number);
                held.release(&probe(), Released::InTime).await;
            }));
            until("it waits", async || begun.begun.load(Ordering::SeqCst) == number).await;
        }
        first.release(&probe(), Released::InTime).await;
        for waited in waiting {
            waited.await.unwrap();
        }
        assert_eq!(*order.lock().await, [1, 2, 3], "{mechanism}");
    }
}

/// The tests' own way to etcd.
struct Etcd(String);

impl Etcd {
    fn of(instance: &Instance) -> Option<Self> {
        let url = instance.shop.world.services.url("etcd").ok()?;
        Some(Self(url.to_owned()))
    }

    async fn ask(&self, path: &str, body: Value) -> Value {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let answer = client.post(format!("{}{path}", self.0)).json(&body).send().await;
        answer.unwrap().json().await.unwrap()
    }

    /// The leases of all keys, the oldest first. No other test may use this server meanwhile.
    async fn leases(&self) -> Vec<String> {
        let all = json!({ "key": "AA==", "range_end": "AA==", "sort_target": "CREATE", "sort_order": "ASCEND" });
        let answer = self.ask("/v3/kv/range", all).await;
        let keys = answer["kvs"].as_array().cloned().unwrap_or_default();
        keys.iter()
            .map(|key| key["lease"].as_str().unwrap().to_owned())
            .collect()
    }

    async fn revoke(&self, lease: &str) {
        self.ask("/v3/lease/revoke", json!({ "ID": lease })).await;
    }
}

#[tokio::test]
async fn a_waiter_that_lost_its_session_is_not_let_in_by_etcd_and_the_next_one_begins_another() {
    let instance = Instance::on(stores_of_its_own(&["etcd"]), |_| {}).await;
    let Some(etcd) = Etcd::of(&instance) else { return };
    let item = name(&fresh("sku"));
    let holder = guard(&instance, "etcd", PATIENT).await;
    let waiter = guard(&instance, "etcd", PATIENT).await;
    let held = holder.take(&item, &probe()).await;
    let waits = Arc::<Waits>::default();
    let waiting = waits.probe();
    let robbed = async {
        until("the second one waits", async || waits.begun.load(Ordering::SeqCst) == 1).await;
        etcd.revoke(&etcd.leases().await[1]).await;
        held.release(&probe(), Released::InTime).await;
    };
    let (second, ()) = tokio::join!(waiter.lock(&item, &waiting), robbed);
    assert!(second.is_none(), "etcd let a purchase in whose key is gone");
    waiter.assert_free(&item, "a new session has begun").await;
}

/// The session lives on, so that a key without a purchase would stop the sale of its item.
#[tokio::test]
async fn a_purchase_that_gives_up_or_ends_without_a_release_leaves_no_key_in_etcd() {
    let instance = Instance::on(stores_of_its_own(&["etcd"]), |_| {}).await;
    let Some(etcd) = Etcd::of(&instance) else { return };
    let item = name(&fresh("sku"));
    let guard = guard(&instance, "etcd", LASTING).await;
    let held = guard.take(&item, &probe()).await;
    guard.assert_held(&item, "the first purchase holds it").await;
    assert_eq!(etcd.leases().await.len(), 1, "the key of the one that gave up");
    drop(held);
    until("its key is gone", async || etcd.leases().await.is_empty()).await;
}

#[tokio::test]
async fn two_purchases_of_one_session_both_hold_the_mutex_of_etcd_and_another_session_waits() {
    let instance = Instance::lab().await;
    if instance.shop.world.services.url("etcd").is_err() {
        return;
    }
    let item = name(&fresh("sku"));
    let one = guard(&instance, "etcd-same-session", LASTING).await;
    let elsewhere = guard(&instance, "etcd-same-session", LASTING).await;
    let first = one.take(&item, &probe()).await;
    let second = one.take_when(&item, &probe(), "its session holds the lock").await;
    elsewhere.assert_held(&item, "another session holds it").await;
    first.release(&probe(), Released::InTime).await;
    // The second one is still inside.
    let third = elsewhere
        .take_when(&item, &probe(), "the key of the session is gone")
        .await;
    second.release(&probe(), Released::InTime).await;
    third.release(&probe(), Released::InTime).await;
}

#[tokio::test]
async fn a_waiter_that_lost_its_place_in_the_queue_is_not_let_in_by_zookeeper() {
    let instance = Instance::lab().await;
    let Ok(url) = instance.shop.world.services.url("zookeeper") else {
        return;
    };
    let client = Client::connect(url.strip_prefix("zookeeper://").unwrap())
        .await
        .unwrap();
    let item = name(&fresh("sku"));
    let guard = guard(&instance, "zookeeper", PATIENT).await;
    let held = guard.take(&item, &probe()).await;
    let waits = Arc::<Waits>::default();
    let waiting = waits.probe();
    let robbed = async {
        until("the second one waits", async || waits.begun.load(Ordering::SeqCst) == 1).await;
        let queue = format!("/lock:{{{item}}}");
        let mut nodes = client.list_children(&queue).await.unwrap();
        nodes.sort_by_key(|node| node.rsplit_once('-').unwrap().1.to_owned());
        // The waiter's session may have ended on a busy machine: then its node is gone already.
        if let Some(waiter) = nodes.get(1) {
            let deleted = client.delete(&format!("{queue}/{waiter}"), None).await;
            assert!(matches!(deleted, Ok(()) | Err(Error::NoNode)), "{deleted:?}");
        }
        held.release(&probe(), Released::InTime).await;
    };
    let (second, ()) = tokio::join!(guard.lock(&item, &waiting), robbed);
    assert!(second.is_none(), "zookeeper let a purchase in whose node is gone");
}
