//! Stock in one MariaDB server, orders in another one.

use loadtest::facts::{LedgerReader, StorePair, Urls};
use sqlx::Connection;
use sqlx::mysql::MySqlConnection;
use stack::{Parts, Stores};

const SCHEMA: &str = include_str!("../../../sql/schema.sql");

/// Writes a row of the item with `left` units, and this many orders.
async fn sold(url: &str, left: i64, orders: i64) {
    let mut connection = MySqlConnection::connect(url).await.unwrap();
    sqlx::raw_sql(SCHEMA).execute(&mut connection).await.unwrap();
    let store = sqlx::query("insert into store (id, num) values ('sku-1', ?)");
    store.bind(left).execute(&mut connection).await.unwrap();
    for order in 0..orders {
        let insert = "insert into orders (id, item, quantity, buyer, idempotency_key, instance)
            values (?, 'sku-1', 1, 'b', ?, 'a')";
        let id = format!("00000000-0000-0000-0000-{order:012}");
        let insert = sqlx::query(insert).bind(&id).bind(format!("k-{order}"));
        insert.execute(&mut connection).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_counter_is_read_from_the_first_server_and_the_orders_from_the_second() {
    let start = || {
        let mut stores = Stores::start(&Parts {
            redis_url: None,
            sql_url: None,
            fetch: true,
        })
        .unwrap();
        let second = stores.start_service("sql-2", true).unwrap()[0].clone();
        (stores, second)
    };
    let (stores, second) = tokio::task::spawn_blocking(start).await.unwrap();
    sold(stores.sql_url(), 10, 0).await;
    sold(&second, 12, 2).await;
    let urls = Urls::from([("sql", stores.sql_url().to_owned()), ("sql-2", second)]);
    let reader = LedgerReader::connect(&urls).await.unwrap();
    for (place, left, orders) in [("sql+sql", 10, 2), ("sql", 10, 0)] {
        let facts = reader
            .read(StorePair::try_from(place.to_owned()).unwrap(), "sku-1", 9)
            .await;
        let facts = facts.unwrap();
        assert_eq!((facts.stock_left, facts.orders.len()), (Some(left), orders), "{place}");
    }
}
