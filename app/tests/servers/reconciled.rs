//! Wherever a purchase is stopped that takes several steps, another instance finishes or undoes it.

use std::time::Duration;

use app::mechanism::Family;
use app::strategies::Entry;
use serde_json::{Value, json};

use crate::harness::{Instance, PurchaseRequest, TOKEN, ask, is_tried, until};
use crate::stopped::{At, crash};

pub const LEASE: Duration = Duration::from_millis(60);

pub async fn hasty() -> Instance {
    Instance::open(|settings| settings.timeouts.lease = LEASE).await
}

/// What `GET /sales/{item}` says of purchases that are neither done nor undone.
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

/// Waits until a purchase that hung was ended by this instance. What is pending then.
pub async fn ended(instance: &Instance, item: &str) -> Value {
    until("one was ended", async || {
        let pending = pending(instance, item).await;
        pending["finished"] != 0 || pending["undone"] != 0
    })
    .await;
    pending(instance, item).await
}

/// Those that promise to survive a crash although a sale takes several steps at two stores.
fn over_two_stores(instance: &Instance) -> Vec<Entry> {
    let several = [Family::TwoStores, Family::DistributedTransaction];
    let all = Entry::all().into_iter().filter(|entry| {
        let about = &entry.mechanism;
        is_tried(about.name) && several.contains(&about.family) && about.survives().contains(&"crashed-holder")
    });
    all.filter(|entry| entry.missing(&instance.shop.world.services).is_none())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn wherever_a_purchase_is_stopped_the_books_agree_in_the_end_and_its_key_buys_once() {
    let instance = hasty().await;
    for entry in over_two_stores(&instance) {
        let buyer = format!("{}: ", entry.name);
        let item = instance.sale(2).await;
        let places = crash(instance.stores(), &entry.name, LEASE, (&item, "k"), At::Nowhere).await;
        assert!(places.len() >= 2, "{buyer}{places:?}");
        for at in 0..places.len() {
            let item = instance.sale(2).await;
            let passed = crash(instance.stores(), &entry.name, LEASE, (&item, "k"), At::Number(at)).await;
            let what = format!("{buyer}stopped at {:?}", passed.last());
            settled(&instance, &item).await;
            let ledger = instance.ledger(entry.store, &item).await;
            assert!(matches!(ledger.left_and_sold(), (2, 0) | (1, 1)), "{what}: {ledger:?}");
            let request = PurchaseRequest::of(&item).by(&entry.name).key("k");
            let answer = instance.buy(&request).await;
            assert_eq!(answer.status, 201, "{what}: {}", answer.text);
            let was_sold = ledger.left == 1;
            assert_eq!(answer.header("idempotent-replayed") == "true", was_sold, "{what}");
            let order = (answer.order(), 1);
            let ledger = instance.ledger(entry.store, &item).await;
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
