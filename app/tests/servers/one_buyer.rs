//! One buyer at a time: every strategy of the catalogue has to be exact, or it is a straw man.

use std::sync::Arc;

use app::stores::SECOND_SQL;

use crate::harness::{Instance, PurchaseRequest, ask, fresh, locks_all_items, stores_of_its_own};

/// Name and store of every strategy that can be used here, and an instance to try it at.
async fn all() -> Vec<(String, &'static str, Arc<Instance>)> {
    let shared = Arc::new(Instance::lab().await);
    let (mut alone, mut all) = (None, Vec::new());
    for listed in shared.shop.catalogue.iter() {
        let entry = &listed.entry;
        if entry.missing(&shared.shop.world.services).is_none() {
            if locks_all_items(entry) && alone.is_none() {
                alone = Some(Arc::new(
                    Instance::on(stores_of_its_own(&[SECOND_SQL, "pg"]), |_| {}).await,
                ));
            }
            let instance = alone.as_ref().filter(|_| locks_all_items(entry)).unwrap_or(&shared);
            all.push((entry.name.clone(), entry.store, instance.clone()));
        }
    }
    all
}

/// A sale from one segment says what that has left: a sum would be a look at all nodes.
fn counts_all_that_is_left(strategy: &str) -> bool {
    strategy != "segmented@cluster"
}

fn sold_out() -> (u16, String) {
    (409, "sold-out".to_owned())
}

#[tokio::test]
async fn every_strategy_sells_to_the_last_unit_and_not_one_more() {
    for (strategy, store, instance) in all().await {
        let item = instance.quiet_sale(3).await;
        let request = PurchaseRequest::of(&item).by(&strategy);
        let mut told = Vec::new();
        for left in [2, 1, 0] {
            let answer = instance.buy(&request.clone().buyer(format!("b-{left}"))).await;
            assert_eq!(answer.status, 201, "{strategy}: {}", answer.text);
            if counts_all_that_is_left(&strategy) {
                assert_eq!(answer.json()["remaining"], left, "{strategy}");
            }
            told.push((answer.order(), 1));
        }
        for late in ["b-3", "b-4"] {
            let answer = instance.buy(&request.clone().buyer(late)).await;
            assert_eq!(answer.problem(), sold_out(), "{strategy}");
        }
        told.sort();
        let ledger = instance.ledger(store, &item).await;
        assert_eq!((ledger.left, ledger.orders), (0, told), "{strategy}");
    }
}

#[tokio::test]
async fn every_strategy_sells_several_units_in_one_order_or_none_of_them() {
    for (strategy, store, instance) in all().await {
        let item = instance.quiet_sale(7).await;
        let request = PurchaseRequest::of(&item).by(&strategy).quantity(3);
        for left in [4, 1] {
            let answer = instance.buy(&request.clone().buyer(format!("b-{left}"))).await;
            assert_eq!(answer.status, 201, "{strategy}: {}", answer.text);
            if counts_all_that_is_left(&strategy) {
                assert_eq!(answer.json()["remaining"], left, "{strategy}");
            }
            assert_eq!(answer.json()["quantity"], 3, "{strategy}");
        }
        let answer = instance.buy(&request.clone().buyer("b-2")).await;
        assert_eq!(answer.problem(), sold_out(), "{strategy}");
        let ledger = instance.ledger(store, &item).await;
        let quantities: Vec<_> = ledger.orders.iter().map(|(_, quantity)| *quantity).collect();
        assert_eq!((ledger.left, quantities), (1, vec![3, 3]), "{strategy}");
        let answer = instance.buy(&request.quantity(1).buyer("b-3")).await;
        assert_eq!(answer.status, 201, "{strategy}");
    }
}

#[tokio::test]
async fn every_strategy_answers_a_repeated_key_with_the_same_order_even_when_nothing_is_left() {
    for (strategy, store, instance) in all().await {
        let item = instance.quiet_sale(2).await;
        let request = PurchaseRequest::of(&item).by(&strategy).quantity(2).key("again");
        let first = instance.buy(&request).await;
        assert_eq!(
            (first.status, first.header("idempotent-replayed")),
            (201, ""),
            "{strategy}"
        );
        for _ in 0..2 {
            let repeat = instance.buy(&request).await;
            assert_eq!((repeat.status, repeat.order()), (201, first.order()), "{strategy}");
            assert_eq!(repeat.header("idempotent-replayed"), "true", "{strategy}");
        }
        let ledger = instance.ledger(store, &item).await;
        assert_eq!(
            (ledger.left, ledger.orders),
            (0, vec![(first.order(), 2)]),
            "{strategy}"
        );
    }
}

#[tokio::test]
async fn every_strategy_refuses_a_key_that_bought_something_else() {
    let reused = (422, "key-reused".to_owned());
    for (strategy, store, instance) in all().await {
        let item = instance.quiet_sale(7).await;
        let request = PurchaseRequest::of(&item).by(&strategy).key("mine");
        assert_eq!(instance.buy(&request).await.status, 201, "{strategy}");
        let more = request.clone().quantity(2);
        let other = request.buyer("b-2");
        assert_eq!(instance.buy(&more).await.problem(), reused, "{strategy}");
        assert_eq!(instance.buy(&other).await.problem(), reused, "{strategy}");
        assert_eq!(
            instance.ledger(store, &item).await.left_and_sold(),
            (6, 1),
            "{strategy}"
        );
    }
}

#[tokio::test]
async fn every_strategy_takes_one_key_on_two_items_for_two_purchases() {
    for (strategy, store, instance) in all().await {
        let items = [instance.quiet_sale(1).await, instance.quiet_sale(1).await];
        for item in &items {
            let request = PurchaseRequest::of(item).by(&strategy).key("mine");
            assert_eq!(instance.buy(&request).await.status, 201, "{strategy}");
            assert_eq!(instance.ledger(store, item).await.left_and_sold(), (0, 1), "{strategy}");
        }
    }
}

#[tokio::test]
async fn every_strategy_says_of_an_unknown_item_that_it_is_unknown() {
    for (strategy, _, instance) in all().await {
        let unknown = PurchaseRequest::of(&fresh("no-such-item"));
        for request in [unknown.clone(), unknown.key("k").buyer("b-2")] {
            let answer = instance.buy(&request.by(&strategy)).await;
            assert_eq!(answer.problem(), (404, "unknown-item".to_owned()), "{strategy}");
        }
    }
}

#[tokio::test]
async fn the_tutorial_route_sells_one_unit_of_the_default_item() {
    let item = fresh("default");
    let instance = Instance::open(|settings| {
        settings.item = app::domain::Name::parse(&item).unwrap();
        settings.stock = 2;
    })
    .await;
    let key = [("idempotency-key", "k")];
    let nothing: [(&str, &str); 0] = [];
    for method in ["HEAD", "PUT"] {
        let look = ask(&instance.public, method, "/deduct_stock", &nothing, "").await;
        assert_eq!(look.status, 405, "who only looks buys nothing");
        assert_eq!(look.header("allow"), "GET,POST", "{method}");
    }
    let first = ask(&instance.public, "GET", "/deduct_stock", &key, "").await;
    let repeat = ask(&instance.public, "POST", "/deduct_stock", &key, "").await;
    assert_eq!((first.status, repeat.status, first.order()), (201, 201, repeat.order()));
    assert_eq!(
        ask(&instance.public, "POST", "/deduct_stock", &nothing, "")
            .await
            .status,
        201
    );
    let last = ask(&instance.public, "GET", "/deduct_stock", &nothing, "").await;
    assert_eq!(last.problem(), sold_out());
    assert_eq!(instance.ledger("redis", &item).await.left_and_sold(), (0, 2));
}
