//! Writers of a queue that are late, or gone.

use app::domain::Outcome;

use crate::harness::{LONG, PurchaseRequest, until};
use crate::reconciled::{LEASE, alone, pending, reconciling, settled};
use crate::stopped::{At, Elsewhere, crash};

const STRATEGY: &str = "queue@redis";

#[tokio::test(flavor = "multi_thread")]
async fn a_writer_whose_lease_is_over_writes_nothing_and_its_buyer_hears_from_the_next_one() {
    let instance = alone().await;
    let item = instance.quiet_sale(1).await;
    let elsewhere = Elsewhere::open(instance.stores(), STRATEGY, LEASE, At::Named("write")).await;
    let others = async {
        elsewhere.stopped().await;
        let reconciling = reconciling(&instance).await;
        settled(&reconciling, &item).await;
        let first = instance.ledger("redis", &item).await.orders;
        // The stopped writer has read that one unit is left.
        let request = PurchaseRequest::of(&item).by(STRATEGY).key("next");
        let refused = reconciling.buy(&request).await;
        assert_eq!(refused.problem(), (409, "sold-out".to_owned()));
        let _: () = redis::AsyncCommands::set(&mut instance.redis.clone(), format!("stock:{{{item}}}"), 7)
            .await
            .unwrap();
        elsewhere.release();
        (reconciling, first)
    };
    let (first, (_reconciling, orders)) = tokio::join!(elsewhere.buy(&item, "first"), others);
    assert_eq!(first.unwrap(), Outcome::Sold { remaining: 0 });
    let ledger = instance.ledger("redis", &item).await;
    assert_eq!((ledger.left, ledger.orders), (7, orders), "the late writer has written");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_one_writer_leads_no_other_one_decides() {
    let instance = alone().await;
    let item = instance.quiet_sale(1).await;
    let elsewhere = Elsewhere::open(instance.stores(), STRATEGY, LONG, At::Named("write")).await;
    let others = async {
        elsewhere.stopped().await;
        let request = PurchaseRequest::of(&item).by(STRATEGY).key("second");
        let is_queued = until("the second one is queued", async || {
            pending(&instance, &item).await["open"] == 2
        });
        let second = instance.buy(&request);
        let go_on = async {
            is_queued.await;
            let ledger = instance.ledger("redis", &item).await;
            assert_eq!(ledger.left_and_sold(), (1, 0));
            elsewhere.release();
        };
        let (second, ()) = tokio::join!(second, go_on);
        second.problem()
    };
    let (first, second) = tokio::join!(elsewhere.buy(&item, "first"), others);
    assert_eq!(first.unwrap(), Outcome::Sold { remaining: 0 });
    assert_eq!(second, (409, "sold-out".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_purchase_whose_instance_is_gone_is_decided_by_another_one() {
    let instance = alone().await;
    let item = instance.quiet_sale(1).await;
    crash(instance.stores(), STRATEGY, LEASE, (&item, "k"), At::Named("write")).await;
    let reconciling = reconciling(&instance).await;
    settled(&reconciling, &item).await;
    assert_eq!(instance.ledger("redis", &item).await.left_and_sold(), (0, 1));
    let again = reconciling.buy(&PurchaseRequest::of(&item).by(STRATEGY).key("k")).await;
    assert_eq!((again.status, again.header("idempotent-replayed")), (201, "true"));
}
