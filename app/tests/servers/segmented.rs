//! The segments of an item in a cluster: the last units are sold wherever they lie, also those on their way.

use redis::cluster_async::ClusterConnection;
use redis::pipe;

use crate::harness::{Instance, PurchaseRequest, fresh, name, stores_of_its_own};

const STRATEGY: &str = "segmented@cluster";

async fn instance() -> Instance {
    Instance::on(stores_of_its_own(&["cluster"]), |_| {}).await
}

fn request(item: &str) -> PurchaseRequest {
    PurchaseRequest::of(item).by(STRATEGY).buyer(fresh("b"))
}

/// Takes units out of a segment for another one, as a purchase does that dies before it brings them there.
async fn give(cluster: &mut ClusterConnection, item: &str, from: &str, to: u32, units: i64) {
    let key = |kind: &str| format!("{kind}:{{{item}{from}}}");
    let mut give = pipe();
    give.atomic()
        .set(key("slots"), 8)
        .ignore()
        .decr(key("stock"), units)
        .hincr(key("segments"), format!("to-{to}"), units);
    let _: (i64, i64) = give.query_async(cluster).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_gets_units_from_as_many_segments_as_it_needs() {
    let instance = instance().await;
    let item = instance.quiet_sale(30).await;
    for _ in 0..20 {
        assert_eq!(instance.buy(&request(&item)).await.status, 201);
    }
    let too_many = instance.buy(&request(&item).quantity(11)).await;
    assert_eq!(too_many.problem(), (409, "sold-out".to_owned()));
    let all = instance.buy(&request(&item).quantity(10)).await;
    assert_eq!(all.status, 201, "{}", all.text);
    assert_eq!(
        instance.buy(&request(&item)).await.problem(),
        (409, "sold-out".to_owned())
    );
    let ledger = instance.ledger("cluster", &item).await;
    assert_eq!((ledger.left_and_sold(), ledger.orders.len()), ((0, 30), 21));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_purchase_finds_its_order_in_whatever_segment_it_is() {
    let instance = instance().await;
    let item = instance.quiet_sale(30).await;
    for number in 0..20 {
        let keyed = request(&item).key(&format!("k-{number}"));
        let (first, again) = (instance.buy(&keyed).await, instance.buy(&keyed).await);
        assert_eq!((first.status, first.order()), (again.status, again.order()));
    }
    assert_eq!(instance.ledger("cluster", &item).await.left_and_sold(), (10, 20));
}

#[tokio::test(flavor = "multi_thread")]
async fn units_whose_purchase_died_on_their_way_are_sold() {
    let instance = instance().await;
    let mut cluster = instance.cluster.clone().unwrap();
    for to in 1..8 {
        let item = instance.quiet_sale(6).await;
        // This one spreads the first units.
        assert_eq!(instance.buy(&request(&item)).await.status, 201);
        let left: Option<i64> = redis::cmd("GET")
            .arg(format!("stock:{{{item}}}"))
            .query_async(&mut cluster)
            .await
            .unwrap();
        give(&mut cluster, &item, "", to, left.unwrap()).await;
        assert_eq!(
            instance.ledger("cluster", &item).await.left_and_sold(),
            (5, 1),
            "on their way"
        );
        let too_many = instance.buy(&request(&item).quantity(6)).await;
        assert_eq!(too_many.problem(), (409, "sold-out".to_owned()));
        for _ in 0..5 {
            let answer = instance.buy(&request(&item)).await;
            assert_eq!(answer.status, 201, "to segment {to}: {}", answer.text);
        }
        assert_eq!(instance.ledger("cluster", &item).await.left_and_sold(), (0, 6));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sale_that_is_opened_again_has_nothing_of_the_one_before() {
    let instance = instance().await;
    let item = instance.quiet_sale(30).await;
    for _ in 0..20 {
        assert_eq!(instance.buy(&request(&item)).await.status, 201);
    }
    instance
        .shop
        .world
        .stock("cluster")
        .unwrap()
        .open(&name(&item), 5)
        .await
        .unwrap();
    assert_eq!(instance.ledger("cluster", &item).await.left_and_sold(), (5, 0));
    let answer = instance.buy(&request(&item).quantity(5)).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    assert_eq!(
        instance.buy(&request(&item)).await.problem(),
        (409, "sold-out".to_owned())
    );
}
