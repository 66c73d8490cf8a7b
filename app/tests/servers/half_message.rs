//! Half messages whose producer was stopped: the broker asks back, and the local transaction is the answer.

use app::domain::Outcome;
use app::stores::SECOND_SQL;
use sqlx::{Row, query};

use crate::harness::{Instance, LONG, PurchaseRequest, stores_of_its_own, until};
use crate::reconciled::{LEASE, alone, ended, pending, reconciling, settled};
use crate::stopped::{At, Elsewhere, crash};

const HALF_MESSAGE: &str = "half-message@sql+sql";

#[tokio::test(flavor = "multi_thread")]
async fn the_broker_asks_back_and_the_local_transaction_decides() {
    let alone = alone().await;
    for (place, ledger, finished) in [
        ("send-half+", (1, 0), 0),
        ("take+", (1, 0), 0),
        ("commit", (1, 0), 0),
        ("commit+", (0, 1), 1),
    ] {
        let item = alone.quiet_sale(1).await;
        crash(alone.stores(), HALF_MESSAGE, LEASE, (&item, "k"), At::Named(place)).await;
        let instance = reconciling(&alone).await;
        let ended = ended(&instance, &item).await;
        assert_eq!(
            (&ended["finished"], &ended["undone"]),
            (&finished.into(), &(1 - finished).into()),
            "{place}"
        );
        settled(&instance, &item).await;
        assert_eq!(
            instance.ledger("sql+sql", &item).await.left_and_sold(),
            ledger,
            "{place}"
        );
    }
}

/// Consumers work here, and the broker asks back only much later.
#[tokio::test(flavor = "multi_thread")]
async fn no_consumer_sees_a_half_message_though_its_local_transaction_has_committed() {
    let instance = alone().await;
    let item = instance.sale(2).await;
    crash(
        instance.stores(),
        HALF_MESSAGE,
        LONG,
        (&item, "k"),
        At::Named("commit+"),
    )
    .await;
    let other = PurchaseRequest::of(&item).by(HALF_MESSAGE).buyer("b-2");
    assert_eq!(instance.buy(&other).await.status, 201);
    assert_eq!(instance.ledger("sql+sql", &item).await.left_and_sold(), (0, 1));
    assert_eq!(pending(&instance, &item).await["open"], 1);
}

/// Its first attempt is refused, and the second one sells.
#[tokio::test(flavor = "multi_thread")]
async fn a_local_transaction_that_comes_after_its_message_was_rolled_back_is_refused() {
    let alone = alone().await;
    let item = alone.quiet_sale(1).await;
    let elsewhere = Elsewhere::open(alone.stores(), HALF_MESSAGE, LEASE, At::Named("begin")).await;
    let instance = reconciling(&alone).await;
    let rolled_back = async {
        elsewhere.stopped().await;
        assert_eq!(ended(&instance, &item).await["undone"], 1);
        elsewhere.release();
    };
    let (late, ()) = tokio::join!(elsewhere.buy(&item, "late"), rolled_back);
    assert_eq!(late.unwrap(), Outcome::Sold { remaining: 0 });
    settled(&instance, &item).await;
    assert_eq!(instance.ledger("sql+sql", &item).await.left_and_sold(), (0, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_to_the_broker_waits_for_a_local_transaction_that_is_open() {
    let stores = stores_of_its_own(&[SECOND_SQL]);
    let alone = Instance::on(stores, |_| {}).await;
    let item = alone.quiet_sale(1).await;
    let elsewhere = Elsewhere::open(alone.stores(), HALF_MESSAGE, LEASE, At::Named("commit")).await;
    let instance = reconciling(&alone).await;
    let asked = async {
        elsewhere.stopped().await;
        assert_eq!(pending(&instance, &item).await["open"], 1);
        until("the answer waits", async || {
            let waits = query("show global status like 'Innodb_row_lock_current_waits'");
            let row = waits.fetch_one(&alone.sql).await.unwrap();
            row.get::<String, _>(1) != "0"
        })
        .await;
        elsewhere.release();
    };
    let (outcome, ()) = tokio::join!(elsewhere.buy(&item, "k"), asked);
    assert_eq!(outcome.unwrap(), Outcome::Sold { remaining: 0 });
    settled(&instance, &item).await;
    assert_eq!(instance.ledger("sql+sql", &item).await.left_and_sold(), (0, 1));
}
