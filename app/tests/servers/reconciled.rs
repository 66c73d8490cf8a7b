//! Wherever a purchase of several steps is stopped, another instance finishes or undoes it.

use std::time::Duration;

use app::mechanism::Family;
use app::stores::SECOND_SQL;
use app::strategies::Entry;
use serde_json::{Value, json};

use crate::harness::{Instance, PurchaseRequest, TOKEN, ask, is_tried, stores_of_its_own, until};
use crate::stopped::{At, crash};

/// The lease of purchases that are stopped. It decides nothing: a reconciler starts only when the purchase is stopped.
pub const LEASE: Duration = Duration::from_millis(50);

/// An instance on stores of its own. While its sales are quiet ones, no reconciler works on these stores.
pub async fn alone() -> Instance {
    Instance::on(stores_of_its_own(&[SECOND_SQL]), |_| {}).await
}

/// Another instance on the stores of `alone`, whose reconcilers end what was left. They start with the first question for
/// what is pending.
pub async fn reconciling(alone: &Instance) -> Instance {
    Instance::on(alone.stores().clone(), |settings| settings.timeouts.lease = LEASE).await
}

/// The answer of `GET /sales/{item}` about purchases that are neither done nor undone.
pub async fn pending(instance: &Instance, item: &str) -> Value {
    let token = [("authorization", format!("Bearer {TOKEN}"))];
    let looked = ask(&instance.admin, "GET", &format!("/sales/{item}"), &token, "").await;
    looked.json()["pending"].clone()
}

/// Waits until no purchase of the item hangs.
pub async fn settled(instance: &Instance, item: &str) -> Value {
    until("nothing is pending", async || {
        pending(instance, item).await["open"] == 0
    })
    .await;
    pending(instance, item).await
}

/// Waits until this instance has ended a purchase that hung. Answers what is pending then.
pub async fn ended(instance: &Instance, item: &str) -> Value {
    until("one was ended", async || {
        let pending = pending(instance, item).await;
        pending["finished"] != 0 || pending["undone"] != 0
    })
    .await;
    pending(instance, item).await
}

/// The strategies that claim to survive a crash although a sale takes several steps: at two stores, or with a reconciler.
fn of_several_steps(instance: &Instance) -> Vec<Entry> {
    let several = [Family::TwoStores, Family::DistributedTransaction];
    let all = Entry::all().into_iter().filter(|entry| {
        let about = &entry.mechanism;
        let is_ended = entry.steps.iter().any(|step| step.name == "overdue");
        let is_of_several = several.contains(&about.family) || is_ended;
        is_tried(about.name) && is_of_several && entry.claims().contains(&"crashed-holder")
    });
    all.filter(|entry| entry.missing(&instance.shop.world.services).is_none())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn wherever_a_purchase_is_stopped_the_books_agree_in_the_end_and_its_key_buys_once() {
    let instance = Instance::on(stores_of_its_own(&[SECOND_SQL, "pg"]), |_| {}).await;
    for entry in of_several_steps(&instance) {
        let stop = async |at| {
            let item = instance.quiet_sale(2).await;
            let passed = crash(instance.stores(), &entry.name, LEASE, (&item, "k"), at).await;
            (item, passed)
        };
        let (_, places) = stop(At::Nowhere).await;
        assert!(places.len() >= 2, "{}: {places:?}", entry.name);
        let mut stopped = Vec::new();
        for at in 0..places.len() {
            let (item, passed) = stop(At::Number(at)).await;
            stopped.push((item, format!("{}: stopped at {:?}", entry.name, passed.last())));
        }
        let reconciling = reconciling(&instance).await;
        for (item, what) in &stopped {
            settled(&reconciling, item).await;
            let ledger = instance.ledger(entry.store, item).await;
            assert!(matches!(ledger.left_and_sold(), (2, 0) | (1, 1)), "{what}: {ledger:?}");
        }
        drop(reconciling);
        for (item, what) in &stopped {
            let was_sold = instance.ledger(entry.store, item).await.left == 1;
            let request = PurchaseRequest::of(item).by(&entry.name).key("k");
            let answer = instance.buy(&request).await;
            assert_eq!(answer.status, 201, "{what}: {}", answer.text);
            assert_eq!(answer.header("idempotent-replayed") == "true", was_sold, "{what}");
            let order = (answer.order(), 1);
            let ledger = instance.ledger(entry.store, item).await;
            assert_eq!((ledger.left, ledger.orders), (1, vec![order]), "{what}");
        }
    }
}

#[tokio::test]
async fn a_sale_without_purchases_that_hang_has_nothing_pending() {
    let instance = Instance::lab().await;
    let item = instance.sale(1).await;
    let nothing = json!({ "open": 0, "finished": 0, "undone": 0, "longest_ms": 0 });
    assert_eq!(pending(&instance, &item).await, nothing);
}
