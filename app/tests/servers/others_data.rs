//! Stores that hold data of another program, or want another key: an instance does not open on them, says why, and leaves
//! them alone.

use app::domain::Error;
use app::stores::{Connect, Redis, Sql, Stock, Store};
use redis::AsyncCommands;
use sqlx::{AssertSqlSafe, MySqlPool, raw_sql};

use crate::harness::{Instance, LONG, name, stores_of_its_own};

async fn opens<S: Store>(url: &str) -> Result<S, Error> {
    let instance = &name("app-1");
    let wait = LONG;
    S::connect(Connect {
        url,
        others: &[],
        instance,
        wait,
    })
    .await
}

#[tokio::test]
async fn tables_of_another_program_are_refused_and_left_alone() {
    let stores = stores_of_its_own(&[]);
    drop(Instance::on(stores.clone(), |_| {}).await);
    let sql = MySqlPool::connect(stores.sql_url()).await.unwrap();
    for (change, names) in [
        (
            "drop table orders; create table orders (number int primary key); insert into orders values (7)",
            "orders",
        ),
        (
            "drop table bare_locks; create view bare_locks as select 'a' item",
            "bare_locks",
        ),
        ("alter table orders add address varchar(9) not null", "orders.address"),
        ("alter table store add shelf int not null", "store.shelf"),
        ("alter table store modify num int unsigned not null", "store.num"),
        ("alter table orders modify id int not null", "orders.id"),
        ("alter table orders drop primary key", "orders.id"),
        (
            "alter table locks modify item varchar(64) collate utf8mb4_general_ci not null",
            "locks.item",
        ),
        ("alter table orders engine = MyISAM", "MyISAM"),
    ] {
        raw_sql("drop table if exists store, orders, locks, bare_locks; drop view if exists bare_locks")
            .execute(&sql)
            .await
            .unwrap();
        drop(opens::<Sql>(stores.sql_url()).await.unwrap());
        raw_sql(AssertSqlSafe(change)).execute(&sql).await.unwrap();
        let before = (tables(&sql).await, orders(&sql).await);
        match opens::<Sql>(stores.sql_url()).await.err() {
            Some(Error::Corrupt { what, .. }) if what.contains(names) => {}
            other => panic!("{change}: {other:?}"),
        }
        assert_eq!((tables(&sql).await, orders(&sql).await), before, "{change}");
    }
}

/// A column of a newer program is not in the way of an older one.
#[tokio::test]
async fn a_column_that_wants_no_value_is_none_of_our_business() {
    let stores = stores_of_its_own(&[]);
    drop(Instance::on(stores.clone(), |_| {}).await);
    let sql = MySqlPool::connect(stores.sql_url()).await.unwrap();
    let change = "alter table orders add note text, add paid boolean not null default false,
        add line int not null auto_increment unique, add total bigint generated always as (quantity) virtual";
    raw_sql(change).execute(&sql).await.unwrap();
    drop(Instance::on(stores, |_| {}).await);
}

#[tokio::test]
async fn keys_of_another_kind_are_refused_and_left_alone() {
    let stores = stores_of_its_own(&[]);
    let client = redis::Client::open(stores.redis_url()).unwrap();
    let mut redis = client.get_multiplexed_async_connection().await.unwrap();
    let shop = opens::<Redis>(stores.redis_url()).await.unwrap();
    let item = name("sku");
    for key in ["stock", "opened", "fence", "orders", "segments"].map(|kind| format!("{kind}:{{sku}}")) {
        shop.open_if_absent(&item, 5).await.unwrap();
        let _: () = redis.del(&key).await.unwrap();
        let _: () = redis.lpush(&key, "others").await.unwrap();
        let refused = shop.open_if_absent(&item, 5).await;
        assert!(matches!(refused, Err(Error::Corrupt { .. })), "{key}: {refused:?}");
        let left: Vec<String> = redis.lrange(&key, 0, -1).await.unwrap();
        assert_eq!(left, ["others"]);
        shop.close(&item).await.unwrap();
    }
    let _: () = redis.set("stock:{sku}", "many").await.unwrap();
    let refused = shop.open_if_absent(&item, 5).await;
    assert!(matches!(refused, Err(Error::Corrupt { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_store_that_wants_another_key_refuses_ours() {
    let stores = stores_of_its_own(&[]);
    let keyed = format!("{}?pass=lost", stores.redis_url());
    let refused = opens::<Redis>(&keyed).await.err();
    assert!(matches!(refused, Some(Error::Refused { .. })), "{refused:?}");
}

/// Which columns there are in which tables, in words.
async fn tables(sql: &MySqlPool) -> Vec<(String, String, String)> {
    let all =
        "select table_name, column_name, column_type from information_schema.columns where table_schema = database()
        order by 1, 2";
    sqlx::query_as(all).fetch_all(sql).await.unwrap()
}

async fn orders(sql: &MySqlPool) -> i64 {
    let count = sqlx::query_scalar("select count(*) from orders");
    count.fetch_one(sql).await.unwrap()
}
