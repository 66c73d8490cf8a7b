//! A sale that lies in PostgreSQL.

use std::collections::HashSet;

use loadtest::facts::{LedgerReader, StorePair, Urls};
use sqlx::postgres::PgConnection;
use sqlx::{Connection, raw_sql};
use stack::{Parts, Stores};

const SCHEMA: &str = include_str!("../../../sql/pg_schema.sql");

const SALES: &str = "insert into store (id, num) values ('sku-1', 7), ('sku-2', 9);
    insert into orders (id, item, quantity, buyer, idempotency_key, instance)
    values ('a', 'sku-1', 2, 'ann', 'k-1', 'i'), ('b', 'sku-1', 1, 'bob', null, 'i'), ('c', 'sku-3', 1, 'cy', null, 'i')";

/// What no honest shop writes: columns of other types, values that are no numbers, and far too long ones.
const SPOILED: &str = "alter table store drop constraint not_below_lowest;
    alter table store alter num type text using repeat('x', 1000000);
    alter table orders alter quantity type text using quantity::text, alter buyer type text using repeat(buyer, 1000000);
    update orders set quantity = 'two' where id = 'a'";

async fn done(connection: &mut PgConnection, statements: &'static str) {
    raw_sql(statements).execute(connection).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_witness_reads_what_is_committed_in_postgresql_and_takes_what_is_spoiled_for_a_fact() {
    let start = || {
        let nowhere = Some("nowhere".to_owned());
        let mut stores = Stores::start(&Parts {
            redis_url: nowhere.clone(),
            sql_url: nowhere,
            fetch: true,
        })
        .unwrap();
        let url = stores.start_service("pg", true).unwrap()[0].clone();
        (stores, url)
    };
    let (_stores, url) = tokio::task::spawn_blocking(start).await.unwrap();
    let mut shop = PgConnection::connect(&url).await.unwrap();
    done(&mut shop, SCHEMA).await;
    done(&mut shop, SALES).await;
    done(&mut shop, "begin").await;
    done(&mut shop, "update store set num = 0; delete from orders").await;

    let reader = LedgerReader::connect(&Urls::from([("pg", url.clone())])).await.unwrap();
    let pair = StorePair::try_from("pg".to_owned()).unwrap();
    let read = async |item, limit| reader.read_once(pair, item, limit).await.unwrap();
    let facts = read("sku-1", 9).await;
    assert_eq!(
        (facts.stock_left, facts.unreadable, facts.cut_short),
        (Some(7), 0, false)
    );
    let orders = facts.orders.iter().map(|order| {
        let (buyer, key) = (order.buyer.as_deref(), order.key.as_deref());
        (&*order.id, order.quantity, buyer, key)
    });
    let expected = [("a", 2, Some("ann"), Some("k-1")), ("b", 1, Some("bob"), None)];
    assert_eq!(orders.collect::<Vec<_>>(), expected);
    let other = read("sku-2", 9).await;
    assert_eq!((other.stock_left, other.orders.len()), (Some(9), 0));
    assert_eq!(read("SKU-1", 9).await.stock_left, None);
    assert!(read("sku-1", 1).await.cut_short);
    let elsewhere = reader
        .elsewhere("pg", &HashSet::from(["sku-1", "sku-2"]))
        .await
        .unwrap();
    assert_eq!(elsewhere.iter().map(|order| &*order.id).collect::<Vec<_>>(), ["c"]);
    let version = &reader.versions().await.unwrap()["pg"];
    assert!(
        version.starts_with(|first: char| first.is_ascii_digit()) && version.ends_with(", read committed"),
        "{version}"
    );

    done(&mut shop, "rollback").await;
    done(&mut shop, SPOILED).await;
    let facts = read("sku-1", 9).await;
    assert_eq!((facts.stock_left, facts.unreadable, facts.orders.len()), (None, 1, 1));
    assert!(facts.orders[0].buyer.as_ref().is_some_and(|buyer| buyer.len() == 65));

    reader.check().await.unwrap();
    done(&mut shop, "drop table orders").await;
    let damaged = format!("{:#}", reader.check().await.unwrap_err());
    assert!(
        damaged.contains("the store pg did not pass its own check: ") && damaged.contains("orders is damaged"),
        "{damaged}"
    );
}
