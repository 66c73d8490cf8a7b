//! One order per buyer and item, by a unique key.

use crate::harness::{Instance, PurchaseRequest};

const STRATEGY: &str = "unique-constraint@sql";

#[tokio::test]
async fn a_unique_key_refuses_the_second_order_of_a_buyer_and_neither_its_copy_nor_another_sale() {
    let instance = Instance::lab().await;
    let (item, other) = (instance.sale(3).await, instance.sale(1).await);
    let of = |item: &str, buyer: &str, key: &str| PurchaseRequest::of(item).by(STRATEGY).buyer(buyer).key(key);
    let first = instance.buy(&of(&item, "b-1", "k-1")).await;
    let copy = instance.buy(&of(&item, "b-1", "k-1")).await;
    assert_eq!((copy.status, copy.order()), (201, first.order()));
    let second = instance.buy(&of(&item, "b-1", "k-2")).await;
    assert_eq!(second.problem(), (503, "busy".to_owned()));
    assert_eq!(instance.buy(&of(&other, "b-1", "k-3")).await.status, 201);
    assert_eq!(instance.ledger("sql", &item).await.left_and_sold(), (2, 1));
}

#[tokio::test]
async fn a_buyer_who_got_nothing_may_order_again_and_of_two_orders_at_once_one_is_made() {
    let instance = Instance::lab().await;
    let item = instance.sale(1).await;
    let of = |buyer: &str, quantity| PurchaseRequest::of(&item).by(STRATEGY).buyer(buyer).quantity(quantity);
    let too_many = instance.buy(&of("b-1", 2)).await;
    assert_eq!(too_many.problem(), (409, "sold-out".to_owned()));
    let (one, two) = (of("b-1", 1), of("b-1", 1));
    let (one, two) = tokio::join!(instance.buy(&one), instance.buy(&two));
    let mut told = [one.status, two.status];
    told.sort_unstable();
    assert_eq!(told, [201, 503]);
    assert_eq!(instance.ledger("sql", &item).await.left_and_sold(), (0, 1));
}
