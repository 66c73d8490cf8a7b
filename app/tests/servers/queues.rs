//! ZooKeeper and etcd let in one purchase after the other, in a queue in which a waiter can lose its place.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use app::domain::Purchase;
use app::guards::Released;
use app::probe::{Actor, Observer, Observers, Probe, StepContext};
use app::timeouts::Timeouts;
use async_trait::async_trait;
use serde_json::{Value, json};
use stack::ServiceKind;
use tokio::sync::Mutex;
use tokio::time::timeout;
use zookeeper_client::Client;

use crate::harness::{Instance, LONG, PATIENT, PurchaseRequest, fresh, name, services_of_its_own, until};
use crate::locks::{guard, probe};

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

    async fn after(&self, passing: &StepContext<'_>, _said: &str) {
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
async fn a_waiter_that_lost_its_lease_is_not_let_in_by_etcd() {
    let instance = Instance::on(services_of_its_own(), |_| {}).await;
    let Some(etcd) = Etcd::of(&instance) else { return };
    let item = name(&fresh("sku"));
    let guard = guard(&instance, "etcd", PATIENT).await;
    let held = guard.take(&item, &probe()).await;
    let waits = Arc::<Waits>::default();
    let waiting = waits.probe();
    let robbed = async {
        until("the second one waits", async || waits.begun.load(Ordering::SeqCst) == 1).await;
        etcd.revoke(&etcd.leases().await[1]).await;
        held.release(&probe(), Released::InTime).await;
    };
    let (second, ()) = tokio::join!(guard.lock(&item, &waiting), robbed);
    assert!(second.is_none(), "etcd let a purchase in whose key is gone");
}

#[tokio::test]
async fn an_etcd_holder_whose_lease_is_gone_before_the_write_writes_nothing_and_says_busy() {
    let hasty = |settings: &mut app::instance::Settings| settings.timeouts.lease = Duration::from_secs(3);
    let instance = Instance::on(services_of_its_own(), hasty).await;
    let Some(etcd) = Etcd::of(&instance) else { return };
    let item = instance.sale(1).await;
    let request = PurchaseRequest::of(&item).by("etcd@redis").work_ms(4_500);
    let robbed = async {
        until("the lease is there", async || !etcd.leases().await.is_empty()).await;
        etcd.revoke(&etcd.leases().await[0]).await;
    };
    let (answer, ()) = tokio::join!(instance.buy(&request), robbed);
    assert_eq!(answer.problem(), (503, "busy".to_owned()));
    assert_eq!(instance.ledger("redis", &item).await.left_and_sold(), (1, 0));
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
        client.delete(&format!("{queue}/{}", nodes[1]), None).await.unwrap();
        held.release(&probe(), Released::InTime).await;
    };
    let (second, ()) = tokio::join!(guard.lock(&item, &waiting), robbed);
    assert!(second.is_none(), "zookeeper let a purchase in whose node is gone");
}

#[tokio::test]
async fn a_holder_that_is_cut_off_from_zookeeper_is_told_not_to_write_and_the_next_one_is_let_in_when_it_is_back() {
    let stores = services_of_its_own();
    let ensemble = stores.processes(ServiceKind::ZooKeeper);
    if ensemble.is_empty() {
        return;
    }
    let instance = Instance::on(stores.clone(), |_| {}).await;
    let hasty = Timeouts {
        wait: LONG,
        lease: Duration::from_secs(4),
    };
    let item = name(&fresh("sku"));
    let guard = guard(&instance, "zookeeper", hasty).await;
    let mut held = guard.take(&item, &probe()).await;
    assert!(held.may_write().await);
    ensemble.iter().for_each(|server| server.kill().unwrap());
    let told = async {
        while held.may_write().await {
            tokio::task::yield_now().await;
        }
    };
    timeout(LONG, told).await.expect("it is never told");
    ensemble.iter().for_each(|server| server.restart().unwrap());
    ensemble.iter().for_each(|server| server.wait_ready(LONG).unwrap());
    drop(held);
    until("the next one is let in", async || {
        matches!(guard.try_lock(&item, &probe()).await, Ok(Some(_)))
    })
    .await;
}
