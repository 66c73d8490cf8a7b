//! Steps of tcc that come too early, too late, or never.

use std::collections::BTreeMap;
use std::time::Duration;

use app::domain::Outcome;
use redis::{AsyncCommands, Script};

use crate::harness::{Instance, LONG, PurchaseRequest, SHORT};
use crate::reconciled::{LEASE, alone, ended, pending, reconciling, settled};
use crate::stopped::{At, Elsewhere, crash};

const TCC: &str = "tcc@redis+sql";

#[tokio::test(flavor = "multi_thread")]
async fn units_on_reserve_are_busy_for_others_and_for_a_copy_and_once_confirmed_they_are_sold_out() {
    let instance = Instance::open(|settings| settings.timeouts.wait = SHORT).await;
    for (step, others) in [("confirm", (503, "busy")), ("record", (409, "sold-out"))] {
        let item = instance.sale(1).await;
        crash(instance.stores(), TCC, LONG, (&item, "stopped"), At::Named(step)).await;
        let request = PurchaseRequest::of(&item).by(TCC);
        let answer = match step {
            "confirm" => instance.buy(&request).await,
            _ => instance.buy_until_served(&request).await,
        };
        let (status, kind) = answer.problem();
        assert_eq!((status, kind.as_str()), others, "{step}");
        let copy = instance.buy(&request.key("stopped")).await;
        assert_eq!(copy.problem(), (503, "busy".to_owned()), "{step}");
        let ledger = instance.ledger("redis+sql", &item).await;
        assert_eq!(ledger.left_and_sold(), (0, 0), "{step}");
        assert_eq!(pending(&instance, &item).await["open"], 1, "{step}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purchase_that_hung_is_counted_with_how_it_ended_and_how_long_it_hung() {
    let instance = alone().await;
    for (step, finished, undone) in [("confirm", 0, 1), ("record", 1, 0)] {
        let item = instance.quiet_sale(1).await;
        crash(instance.stores(), TCC, LEASE, (&item, "k"), At::Named(step)).await;
        let ended = ended(&reconciling(&instance).await, &item).await;
        let counted = (&ended["finished"], &ended["undone"]);
        assert_eq!(counted, (&finished.into(), &undone.into()), "{step}");
        let hung = Duration::from_millis(ended["longest_ms"].as_u64().unwrap());
        assert!((LEASE..LONG).contains(&hung), "{step}: {ended}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirm_that_comes_after_the_reservation_was_cancelled_is_refused() {
    let instance = alone().await;
    let item = instance.quiet_sale(1).await;
    let elsewhere = Elsewhere::open(instance.stores(), TCC, LEASE, At::Named("confirm")).await;
    let cancelled = async {
        elsewhere.stopped().await;
        settled(&reconciling(&instance).await, &item).await;
        elsewhere.release();
    };
    let (late, ()) = tokio::join!(elsewhere.buy(&item, "late"), cancelled);
    assert_eq!(late.unwrap(), Outcome::Busy);
    assert_eq!(instance.ledger("redis+sql", &item).await.left_and_sold(), (1, 0));
}

/// A purchase that gets no answer to its try cancels it, and the try may come to Redis after that.
#[tokio::test(flavor = "multi_thread")]
async fn a_cancel_that_comes_before_its_try_frees_nothing_and_the_late_try_is_refused() {
    let instance = Instance::lab().await;
    let item = instance.sale(1).await;
    let elsewhere = Elsewhere::open(instance.stores(), TCC, LONG, At::Named("try")).await;
    let cancelled = async {
        let transaction = elsewhere.stopped().await;
        let word = cancel(&instance, &item, &transaction).await;
        elsewhere.release();
        word
    };
    let (late, word) = tokio::join!(elsewhere.buy(&item, "late"), cancelled);
    assert_eq!((late.unwrap(), word.as_str()), (Outcome::Busy, "empty"));
    assert_eq!(instance.ledger("redis+sql", &item).await.left_and_sold(), (1, 0));
    let again = PurchaseRequest::of(&item).by(TCC).key("late");
    assert_eq!(
        instance.buy(&again).await.status,
        201,
        "the next delivery is another transaction"
    );
}

/// A reconciler and a purchase may confirm at the same time, and a reply of confirm may be lost.
#[tokio::test(flavor = "multi_thread")]
async fn a_confirmed_transaction_is_not_cancelled_and_a_second_confirm_changes_nothing() {
    let instance = Instance::lab().await;
    let item = instance.quiet_sale(1).await;
    crash(instance.stores(), TCC, LONG, (&item, "k"), At::Named("record")).await;
    let key = format!("tcc:{{{item}}}");
    let known = async || {
        let known: BTreeMap<String, String> = instance.redis.clone().hgetall(&key).await.unwrap();
        known
    };
    let before = known().await;
    let (order, text) = before.iter().find(|(_, text)| text.starts_with("confirmed ")).unwrap();
    let transaction = text.split(' ').nth(1).unwrap();
    assert_eq!(cancel_order(&instance, &item, order, transaction).await, "confirmed");
    let confirm = Script::new(include_str!("../../src/strategies/tcc/confirm.lua"));
    let word: String = confirm
        .key(&key)
        .key("tcc-deadlines")
        .arg(order)
        .arg(transaction)
        .arg(format!("{item} {order}"))
        .arg(LONG.as_millis() as u64)
        .invoke_async(&mut instance.redis.clone())
        .await
        .unwrap();
    assert_eq!(word, "confirmed");
    assert_eq!(known().await, before);
    assert_eq!(instance.ledger("redis+sql", &item).await.left_and_sold(), (0, 0));
}

/// Cancels a transaction as tcc does.
async fn cancel(instance: &Instance, item: &str, transaction: &str) -> String {
    cancel_order(instance, item, "an order", transaction).await
}

async fn cancel_order(instance: &Instance, item: &str, order: &str, transaction: &str) -> String {
    let script = Script::new(include_str!("../../src/strategies/tcc/cancel.lua"));
    let (word, _): (String, i64) = script
        .key(format!("stock:{{{item}}}"))
        .key(format!("tcc:{{{item}}}"))
        .key("tcc-deadlines")
        .key(format!("tcc-cancelled:{{{item}}}:{transaction}"))
        .arg(order)
        .arg(transaction)
        .arg("a deadline")
        .arg(60_000)
        .invoke_async(&mut instance.redis.clone())
        .await
        .unwrap();
    word
}
