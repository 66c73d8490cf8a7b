//! Reservations that are paid late, or never.

use std::time::Duration;

use app::domain::Outcome;

use crate::harness::{Instance, LONG, PurchaseRequest, SHORT};
use crate::reconciled::{LEASE, alone, ended, pending, reconciling, settled};
use crate::stopped::{At, Elsewhere, crash};

const STRATEGY: &str = "reservation@sql";

#[tokio::test(flavor = "multi_thread")]
async fn units_that_are_held_are_busy_for_others_and_for_a_copy_and_once_paid_they_are_sold_out() {
    let instance = Instance::open(|settings| settings.timeouts.wait = SHORT).await;
    let item = instance.sale(1).await;
    crash(instance.stores(), STRATEGY, LONG, (&item, "stopped"), At::Named("work")).await;
    let request = PurchaseRequest::of(&item).by(STRATEGY);
    assert_eq!(instance.buy(&request).await.problem(), (503, "busy".to_owned()));
    let copy = instance.buy(&request.clone().key("stopped")).await;
    assert_eq!(copy.problem(), (503, "busy".to_owned()));
    assert_eq!(pending(&instance, &item).await["open"], 1);

    let item = instance.sale(1).await;
    let request = PurchaseRequest::of(&item).by(STRATEGY);
    assert_eq!(instance.buy_until_served(&request).await.status, 201);
    let refused = instance.buy_until_served(&request).await;
    assert_eq!(refused.problem(), (409, "sold-out".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_comes_after_the_units_were_given_back_is_refused() {
    let instance = alone().await;
    let item = instance.quiet_sale(1).await;
    let elsewhere = Elsewhere::open(instance.stores(), STRATEGY, LEASE, At::Named("pay")).await;
    let given_back = async {
        elsewhere.stopped().await;
        let ended = ended(&reconciling(&instance).await, &item).await;
        elsewhere.release();
        ended
    };
    let (late, ended) = tokio::join!(elsewhere.buy(&item, "late"), given_back);
    assert_eq!(late.unwrap(), Outcome::Busy);
    assert_eq!((&ended["finished"], &ended["undone"]), (&0.into(), &1.into()));
    assert!(
        Duration::from_millis(ended["longest_ms"].as_u64().unwrap()) >= LEASE,
        "{ended}"
    );
    assert_eq!(instance.ledger("sql", &item).await.left_and_sold(), (1, 0));
}

/// The reconciler has seen the reservation as overdue, and the buyer pays before it gives the units back.
#[tokio::test(flavor = "multi_thread")]
async fn units_that_are_paid_are_not_given_back_by_a_reconciler_that_saw_them_overdue() {
    let instance = alone().await;
    let item = instance.quiet_sale(1).await;
    let elsewhere = Elsewhere::open(instance.stores(), STRATEGY, LEASE, At::Named("pay+")).await;
    let seen = async {
        elsewhere.stopped().await;
        // Its delete waits for the row of the payment.
        let reconciling = reconciling(&instance).await;
        pending(&reconciling, &item).await;
        let waits = "select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'";
        crate::harness::until("the reconciler waits", async || {
            sqlx::query_scalar::<_, i64>(waits)
                .fetch_one(&instance.sql)
                .await
                .unwrap()
                > 0
        })
        .await;
        elsewhere.release();
        reconciling
    };
    let (paid, reconciling) = tokio::join!(elsewhere.buy(&item, "paid"), seen);
    assert_eq!(paid.unwrap(), Outcome::Sold { remaining: 0 });
    settled(&reconciling, &item).await;
    assert_eq!(instance.ledger("sql", &item).await.left_and_sold(), (0, 1));
}
