//! Slices of two instances: the last units are sold wherever they lie, and by whichever instance is asked.

use crate::harness::{Instance, PurchaseRequest};

const STRATEGY: &str = "quota@redis";

#[tokio::test]
async fn the_last_units_are_sold_from_the_slice_of_an_instance_that_is_gone() {
    let (one, two) = (Instance::lab().await, Instance::lab().await);
    let item = one.sale(11).await;
    let request = PurchaseRequest::of(&item).by(STRATEGY);
    // Ten units are the slice of the first, and the last one is that of the second.
    for (instance, left) in [(&one, 10), (&two, 9)] {
        let answer = instance.buy(&request).await;
        assert_eq!((answer.status, &answer.json()["remaining"]), (201, &left.into()));
    }
    // The first remembers nine units, of which others sell eight.
    assert_eq!(two.buy(&request.clone().quantity(8)).await.status, 201);
    let too_many = one.buy(&request.clone().quantity(2)).await;
    assert_eq!(too_many.problem(), (409, "sold-out".to_owned()));
    drop(one);
    assert_eq!(two.buy(&request).await.status, 201);
    assert_eq!(two.buy(&request).await.problem(), (409, "sold-out".to_owned()));
    assert_eq!(two.ledger("redis", &item).await.left_and_sold(), (0, 11));
}
