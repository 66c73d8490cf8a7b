//! A store that is gone: what still sells, and what a buyer is told.

use std::time::Duration;

use app::shop::Settings;
use tokio::time::timeout;

use crate::harness::{Answer, Instance, PurchaseRequest, ask, stores_of_its_own, until};

/// How long a store may take to answer: a buyer must not wait longer for one that is gone.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

async fn ready(instance: &Instance) -> Answer {
    let nothing: [(&str, &str); 0] = [];
    ask(&instance.public, "GET", "/readyz", &nothing, "").await
}

#[tokio::test]
async fn without_redis_the_shop_is_not_ready_admits_that_it_does_not_know_and_comes_back() {
    let stores = stores_of_its_own();
    let instance = Instance::on(stores.clone(), |_| {}).await;
    let item = instance.sale(2).await;
    let redis = stores.redis().unwrap();
    redis.kill().unwrap();
    assert_eq!(ready(&instance).await.problem(), (503, "not-ready".to_owned()));
    for strategy in ["lua@redis", "watch-multi@redis", "token@sql"] {
        let request = PurchaseRequest::of(&item).by(strategy);
        let answer = timeout(ANSWER_WITHIN, instance.buy(&request)).await.expect(strategy);
        assert_eq!(answer.problem(), (500, "store-failed".to_owned()), "{strategy}");
        assert_eq!(answer.header("retry-after"), "", "{strategy}");
        assert!(!answer.text.contains("redis.sock"), "{}", answer.text);
    }
    let answer = instance.buy(&PurchaseRequest::of(&item).by("conditional@sql")).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    redis.restart().unwrap();
    until("the shop is ready again", async || ready(&instance).await.status == 200).await;
    let item = instance.sale(1).await;
    assert_eq!(
        instance.buy(&PurchaseRequest::of(&item).by("lua@redis")).await.status,
        201
    );
}

#[tokio::test]
async fn without_mariadb_the_shop_is_not_ready_and_still_sells_from_redis() {
    let stores = stores_of_its_own();
    let hasty = |settings: &mut Settings| settings.timeouts.wait = Duration::from_millis(50);
    let instance = Instance::on(stores.clone(), hasty).await;
    let item = instance.sale(2).await;
    stores.mariadb().unwrap().kill().unwrap();
    assert_eq!(ready(&instance).await.problem(), (503, "not-ready".to_owned()));
    for strategy in ["lua@redis", "watchdog@redis"] {
        let answer = instance.buy(&PurchaseRequest::of(&item).by(strategy)).await;
        assert_eq!(answer.status, 201, "{strategy}: {}", answer.text);
    }
    // No connection, no statement: nothing was sold, and that is certain.
    let answer = instance.buy(&PurchaseRequest::of(&item).by("conditional@sql")).await;
    assert_eq!(answer.problem(), (503, "busy".to_owned()));
}
