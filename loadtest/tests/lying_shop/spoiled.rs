//! A store that has lost its data.

use loadtest::facts::{LedgerReader, Urls};
use sqlx::Connection;
use sqlx::mysql::MySqlConnection;
use stack::{Parts, Stores};

const SCHEMA: &str = include_str!("../../../sql/schema.sql");

#[tokio::test(flavor = "multi_thread")]
async fn the_witness_tells_a_spoiled_table_from_a_lost_order() {
    let parts = Parts {
        redis_url: None,
        sql_url: None,
        fetch: true,
    };
    let stores = tokio::task::spawn_blocking(move || Stores::start(&parts))
        .await
        .unwrap()
        .unwrap();
    let reader = LedgerReader::connect(&Urls::from([("sql", stores.sql_url().to_owned())]))
        .await
        .unwrap();
    let mut connection = MySqlConnection::connect(stores.sql_url()).await.unwrap();
    sqlx::raw_sql(SCHEMA).execute(&mut connection).await.unwrap();
    reader.check().await.unwrap();
    sqlx::raw_sql("drop table orders")
        .execute(&mut connection)
        .await
        .unwrap();
    let spoiled = reader.check().await.unwrap_err();
    let spoiled = format!("{spoiled:#}");
    assert!(
        spoiled.contains("the store sql did not pass its own check: ") && spoiled.contains("orders is damaged"),
        "{spoiled}"
    );
}
