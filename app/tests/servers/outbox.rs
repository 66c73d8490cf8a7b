//! Messages of an outbox that no consumer reads in time, or that come twice.

use std::time::Duration;

use app::domain::Outcome;
use sqlx::query;

use crate::harness::{Instance, LONG, PurchaseRequest, stores_of_its_own, until};
use crate::reconciled::{LEASE, alone, ended, reconciling, settled};
use crate::stopped::{At, Elsewhere, crash};

const OUTBOX: &str = "outbox@redis+sql";

#[tokio::test(flavor = "multi_thread")]
async fn an_order_whose_buyer_is_gone_is_entered_and_its_message_taken_out() {
    let alone = alone().await;
    let item = alone.quiet_sale(2).await;
    let instance = reconciling(&alone).await;
    crash(instance.stores(), OUTBOX, LEASE, (&item, "k"), At::Named("take+")).await;
    settled(&instance, &item).await;
    assert_eq!(instance.ledger("redis+sql", &item).await.left_and_sold(), (1, 1));
    assert_eq!(messages(&instance).await, 0);
    let again = instance.buy(&PurchaseRequest::of(&item).by(OUTBOX).key("k")).await;
    assert_eq!((again.status, again.header("idempotent-replayed")), (201, "true"));
}

/// A consumer that received a message and died: the message is claimed once it has lain there for a lease.
#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_a_dead_consumer_received_is_claimed_and_counted() {
    let instance = reconciling(&alone().await).await;
    let item = instance.sale(1).await;
    leave_message(&instance, &item, "5b0e9a07-2c2f-5b0e-9a07-2f2b6f4f7c11", true).await;
    let ended = ended(&instance, &item).await;
    assert_eq!(ended["finished"], 1);
    assert!(
        ended["longest_ms"].as_u64().unwrap() >= LEASE.as_millis() as u64,
        "{ended}"
    );
    assert_eq!(instance.ledger("redis+sql", &item).await.orders.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_that_comes_twice_makes_one_order() {
    let instance = reconciling(&alone().await).await;
    let item = instance.sale(1).await;
    let order = "6a3bf0d6-2c2f-5b0e-9a07-2f2b6f4f7c11";
    for _ in 0..2 {
        leave_message(&instance, &item, order, false).await;
    }
    until("both are out of the stream", async || messages(&instance).await == 0).await;
    let orders = instance.ledger("redis+sql", &item).await.orders;
    assert_eq!(orders, [(order.to_owned(), 1)]);
}

/// How many are in the stream.
async fn messages(instance: &Instance) -> u64 {
    let mut redis = instance.redis.clone();
    redis::cmd("XLEN").arg("outbox").query_async(&mut redis).await.unwrap()
}

/// Leaves a message as a purchase does; one that was received has gone to a consumer that never comes back.
async fn leave_message(instance: &Instance, item: &str, order: &str, is_received: bool) {
    let entry = r#"{"quantity":1,"buyer":"b-1","idempotency_key":null,"instance":"gone"}"#;
    let mut leave = redis::pipe();
    leave.atomic();
    // Before any consumer can see it.
    let fields = ["item", item, "order", order, "entry", entry];
    leave.cmd("XADD").arg("outbox").arg("*").arg(&fields).ignore();
    if is_received {
        leave.cmd("XREADGROUP").arg("GROUP").arg("orders").arg("gone");
        leave.arg("STREAMS").arg("outbox").arg(">").ignore();
    }
    let () = leave.query_async(&mut instance.redis.clone()).await.unwrap();
}

/// The buyer hears nothing before the order is in the ledger, and nothing at all when it does not come there in time.
#[tokio::test(flavor = "multi_thread")]
async fn a_buyer_is_told_unknown_while_the_ledger_takes_no_orders_and_sold_later() {
    let stores = stores_of_its_own(&[]);
    let instance = Instance::on(stores, |settings| {
        settings.timeouts.lease = LEASE;
        settings.timeouts.wait = Duration::from_millis(200);
    })
    .await;
    let item = instance.sale(1).await;
    let request = PurchaseRequest::of(&item).by(OUTBOX).key("k");
    let mut lock = instance.sql.acquire().await.unwrap();
    query("lock tables orders read").execute(&mut *lock).await.unwrap();
    let answer = instance.buy(&request).await;
    assert_eq!(answer.problem(), (500, "store-failed".to_owned()), "{}", answer.text);
    query("unlock tables").execute(&mut *lock).await.unwrap();
    settled(&instance, &item).await;
    let again = instance.buy_until_served(&request).await;
    assert_eq!((again.status, again.header("idempotent-replayed")), (201, "true"));
    assert_eq!(instance.ledger("redis+sql", &item).await.left_and_sold(), (0, 1));
}

/// The consumer of its own instance finds nothing then.
#[tokio::test(flavor = "multi_thread")]
async fn a_buyer_whose_message_another_instance_received_finds_the_order_in_the_ledger() {
    let instance = reconciling(&alone().await).await;
    let item = instance.sale(1).await;
    let elsewhere = Elsewhere::open(instance.stores(), OUTBOX, LONG, At::Named("take+")).await;
    let received = async {
        elsewhere.stopped().await;
        settled(&instance, &item).await;
        elsewhere.release();
    };
    let (outcome, ()) = tokio::join!(elsewhere.buy(&item, "k"), received);
    assert_eq!(outcome.unwrap(), Outcome::Sold { remaining: 0 });
}
