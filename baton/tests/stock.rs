//! The rule of the example, and the one that is not enough, with a holder that is late.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use std::time::Duration;

use baton::{Baton, Settings};
use redis::AsyncCommands;
use sqlx::{MySqlPool, query, raw_sql};
use stack::{Parts, Stores};

#[path = "../examples/stock.rs"]
mod stock;

use stock::{NOT_ENOUGH, RULE, TABLE, read, sell_one};

/// No lease ends by itself during a test.
const LONG: Duration = Duration::from_secs(600);

/// Each holder reads. The first one, whose lease is over, writes before the second one. Returns who has sold, and how many
/// of two units are left.
async fn late_holder_writes_first(statement: &'static str) -> (bool, bool, i64) {
    let parts = Parts {
        redis_url: None,
        sql_url: None,
        fetch: true,
    };
    let stores = Stores::start(&parts).unwrap();
    let client = redis::Client::open(stores.redis_url()).unwrap();
    let settings = Settings {
        lease: LONG,
        grace: LONG,
        ..Settings::default()
    };
    let late_process = Baton::connect(client.clone(), settings.clone()).await.unwrap();
    let process = Baton::connect(client.clone(), settings).await.unwrap();
    let mut redis = client.get_multiplexed_async_connection().await.unwrap();
    let sql = MySqlPool::connect(stores.sql_url()).await.unwrap();
    raw_sql(TABLE).execute(&sql).await.unwrap();
    let insert = query("insert into baton_stock (id, num) values ('sku-1', 2)");
    insert.execute(&sql).await.unwrap();

    let late = late_process.lock("sku-1").await.unwrap();
    let seen_by_late = read(&sql, "sku-1").await.unwrap();
    // As at the end of its lease.
    let _: u64 = redis.del(&Baton::keys("sku-1")[0]).await.unwrap();
    let holder = process.lock("sku-1").await.unwrap();
    assert!(late.fence() < holder.fence());
    let seen = read(&sql, "sku-1").await.unwrap();
    let late_sold = sell_one(&sql, statement, "sku-1", seen_by_late, late.fence())
        .await
        .unwrap();
    let sold = sell_one(&sql, statement, "sku-1", seen, holder.fence()).await.unwrap();
    (late_sold, sold, read(&sql, "sku-1").await.unwrap().num)
}

#[tokio::test]
async fn by_the_rule_the_holder_that_read_before_a_late_one_wrote_is_refused() {
    assert_eq!(late_holder_writes_first(RULE).await, (true, false, 1));
}

#[tokio::test]
async fn a_store_that_only_refuses_lower_fences_sells_one_unit_to_both() {
    assert_eq!(late_holder_writes_first(NOT_ENOUGH).await, (true, true, 1));
}
