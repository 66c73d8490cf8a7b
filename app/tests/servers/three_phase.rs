//! Participants of a three-phase commit that hear no more decide each for itself.

use crate::harness::PurchaseRequest;
use crate::reconciled::{LEASE, alone, ended, reconciling, settled};
use crate::stopped::{At, crash};
use crate::two_phase::prepared;

const THREE_PHASE: &str = "three-phase@sql+sql";

#[tokio::test(flavor = "multi_thread")]
async fn participants_that_have_heard_the_same_agree_without_their_coordinator() {
    let instance = alone().await;
    for (place, ledger) in [("pre-commit", (1, 0)), ("do-commit", (0, 1)), ("do-commit+", (0, 1))] {
        let item = instance.quiet_sale(1).await;
        crash(instance.stores(), THREE_PHASE, LEASE, (&item, "k"), At::Named(place)).await;
        settled(&reconciling(&instance).await, &item).await;
        let found = instance.ledger("sql+sql", &item).await;
        assert_eq!(found.left_and_sold(), ledger, "{place}");
        assert_eq!(prepared(&instance).await, [0, 0], "{place}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn where_one_has_heard_of_the_pre_commit_and_the_other_has_not_the_unit_is_sold_twice() {
    let instance = alone().await;
    let item = instance.quiet_sale(1).await;
    crash(
        instance.stores(),
        THREE_PHASE,
        LEASE,
        (&item, "k"),
        At::Named("pre-commit+"),
    )
    .await;
    let ended = ended(&reconciling(&instance).await, &item).await;
    assert_eq!(ended["finished"], 1);
    assert_eq!(instance.ledger("sql+sql", &item).await.left_and_sold(), (1, 1));
    let next = instance.buy(&PurchaseRequest::of(&item).by(THREE_PHASE)).await;
    assert_eq!(next.status, 201, "{}", next.text);
    assert_eq!(instance.ledger("sql+sql", &item).await.left_and_sold(), (0, 2));
}
