//! One purchase per buyer and sale: the second one is refused, the first one may be sent again.

use crate::harness::{Instance, PurchaseRequest};

const STRATEGIES: [(&str, &str); 2] = [("once-per-buyer@redis", "redis"), ("once-per-buyer@sql", "sql")];

fn busy() -> (u16, String) {
    (503, "busy".to_owned())
}

#[tokio::test]
async fn once_per_buyer_refuses_the_second_purchase_of_a_buyer_and_not_that_of_another() {
    // The wait is longer than any test may take: the refusal has to come at once.
    let instance = Instance::lab().await;
    for (strategy, store) in STRATEGIES {
        let (item, other) = (instance.sale(3).await, instance.sale(1).await);
        let of = |item: &str, buyer: &str| PurchaseRequest::of(item).by(strategy).buyer(buyer);
        assert_eq!(instance.buy(&of(&item, "b-1")).await.status, 201, "{strategy}");
        assert_eq!(instance.buy(&of(&item, "b-1")).await.problem(), busy(), "{strategy}");
        assert_eq!(instance.buy(&of(&item, "b-2")).await.status, 201, "{strategy}");
        assert_eq!(
            instance.buy(&of(&other, "b-1")).await.status,
            201,
            "another sale: {strategy}"
        );
        assert_eq!(
            instance.ledger(store, &item).await.left_and_sold(),
            (1, 2),
            "{strategy}"
        );
    }
}

#[tokio::test]
async fn once_per_buyer_lets_the_same_purchase_in_again_also_under_another_name_which_then_may_still_buy() {
    let instance = Instance::lab().await;
    for (strategy, store) in STRATEGIES {
        let item = instance.sale(3).await;
        let request = PurchaseRequest::of(&item).by(strategy).key("k-1").buyer("b-1");
        let first = instance.buy(&request).await;
        assert_eq!(first.status, 201, "{strategy}");
        let repeat = instance.buy(&request).await;
        assert_eq!((repeat.status, repeat.order()), (201, first.order()), "{strategy}");
        let stranger = instance.buy(&request.clone().buyer("b-2")).await;
        assert_eq!(stranger.problem(), (422, "key-reused".to_owned()), "{strategy}");
        let own = PurchaseRequest::of(&item).by(strategy).key("k-2").buyer("b-2");
        assert_eq!(instance.buy(&own).await.status, 201, "{strategy}");
        assert_eq!(
            instance.ledger(store, &item).await.left_and_sold(),
            (1, 2),
            "{strategy}"
        );
    }
}
