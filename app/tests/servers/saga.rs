//! The units that a saga gives back, and steps that come too late for it.

use app::domain::Outcome;
use redis::{AsyncCommands, Script};
use sqlx::{query, raw_sql};

use crate::harness::{Instance, LONG, PurchaseRequest, stores_of_its_own};
use crate::reconciled::{LEASE, alone, ended, pending, reconciling, settled};
use crate::stopped::{At, Elsewhere, crash};

const SAGA: &str = "saga@redis+sql";

/// A ledger that refuses orders of one buyer.
const REFUSES: &str = "
create trigger refuses before insert on orders for each row
begin
    if new.buyer = 'refused' then
        signal sqlstate 'HY000' set mysql_errno = 1644, message_text = 'no orders of yours';
    end if;
end";

#[tokio::test(flavor = "multi_thread")]
async fn units_whose_order_the_ledger_refuses_are_given_back_at_once_and_the_buyer_is_told_busy() {
    let instance = Instance::on(stores_of_its_own(&[]), |_| {}).await;
    raw_sql(REFUSES).execute(&instance.sql).await.unwrap();
    let item = instance.sale(1).await;
    let refused = PurchaseRequest::of(&item).by(SAGA).buyer("refused").key("k");
    assert_eq!(instance.buy(&refused).await.problem(), (503, "busy".to_owned()));
    assert_eq!(instance.ledger("redis+sql", &item).await.left_and_sold(), (1, 0));
    assert_eq!(pending(&instance, &item).await["open"], 0);
    let next = instance.buy(&PurchaseRequest::of(&item).by(SAGA)).await;
    assert_eq!(next.status, 201, "{}", next.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_saga_that_hung_is_undone_before_its_order_is_there_and_finished_after_that() {
    let instance = alone().await;
    for (place, finished, undone) in [("record", 0, 1), ("settle", 1, 0), ("end-saga", 1, 0)] {
        let item = instance.quiet_sale(1).await;
        crash(instance.stores(), SAGA, LEASE, (&item, "k"), At::Named(place)).await;
        let ended = ended(&reconciling(&instance).await, &item).await;
        let counted = (&ended["finished"], &ended["undone"]);
        assert_eq!(counted, (&finished.into(), &undone.into()), "{place}");
        assert!(
            ended["longest_ms"].as_u64().unwrap() >= LEASE.as_millis() as u64,
            "{ended}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_step_of_a_compensated_saga_is_refused() {
    let instance = alone().await;
    for (place, told, ledger) in [
        // Another saga takes the unit once, and not a second time.
        ("take", Outcome::Sold { remaining: 0 }, (0, 1)),
        ("record", Outcome::Busy, (1, 0)),
    ] {
        let item = instance.quiet_sale(1).await;
        let elsewhere = Elsewhere::open(instance.stores(), SAGA, LEASE, At::Named(place)).await;
        let compensated = async {
            elsewhere.stopped().await;
            settled(&reconciling(&instance).await, &item).await;
            elsewhere.release();
        };
        let (late, ()) = tokio::join!(elsewhere.buy(&item, "late"), compensated);
        assert_eq!(late.unwrap(), told, "{place}");
        let found = instance.ledger("redis+sql", &item).await;
        assert_eq!(found.left_and_sold(), ledger, "{place}");
    }
}

/// A reconciler has decided to compensate it, and has not given its units back yet.
#[tokio::test(flavor = "multi_thread")]
async fn a_saga_that_is_being_compensated_enters_no_order() {
    let instance = alone().await;
    let item = instance.quiet_sale(1).await;
    let elsewhere = Elsewhere::open(instance.stores(), SAGA, LEASE, At::Named("record")).await;
    let claimed = async {
        elsewhere.stopped().await;
        let claim = query("update saga set compensating = true where item = ?").bind(&item);
        claim.execute(&instance.sql).await.unwrap();
        elsewhere.release();
    };
    let (late, ()) = tokio::join!(elsewhere.buy(&item, "late"), claimed);
    assert_eq!(late.unwrap(), Outcome::Busy);
    settled(&reconciling(&instance).await, &item).await;
    assert_eq!(instance.ledger("redis+sql", &item).await.left_and_sold(), (1, 0));
}

/// Two reconcilers may compensate a saga at the same time, and a purchase with them.
#[tokio::test(flavor = "multi_thread")]
async fn units_that_are_given_back_twice_come_back_once() {
    let instance = Instance::lab().await;
    let item = instance.quiet_sale(1).await;
    crash(instance.stores(), SAGA, LONG, (&item, "k"), At::Named("record")).await;
    let taken = format!("saga:{{{item}}}");
    let sagas: Vec<String> = instance.redis.clone().hkeys(&taken).await.unwrap();
    let [saga] = &sagas[..] else {
        panic!("one saga has taken units: {sagas:?}")
    };
    let script = Script::new(include_str!("../../src/strategies/saga/give_back.lua"));
    let mut given_back = Vec::new();
    for _ in 0..2 {
        let given: i64 = script
            .key(format!("stock:{{{item}}}"))
            .key(&taken)
            .key(format!("saga-compensated:{{{item}}}:{saga}"))
            .arg(saga)
            .arg(60_000)
            .invoke_async(&mut instance.redis.clone())
            .await
            .unwrap();
        given_back.push(given);
    }
    assert_eq!(given_back, [1, 0]);
    assert_eq!(instance.ledger("redis+sql", &item).await.left_and_sold(), (1, 0));
}
