//! Counter and ledger of a sale, read behind the shop's back by statements of the tests' own.

use redis::aio::ConnectionLike;
use serde_json::Value;
use sqlx::mysql::MySqlRow;
use sqlx::{MySqlPool, PgPool, Row};

use crate::harness::Instance;

impl Instance {
    /// Counter and orders of a sale in a store; of two stores the first one has the counter, the second one the orders.
    pub async fn ledger(&self, store: &str, item: &str) -> Ledger {
        match store {
            "redis" => redis_ledger(self.redis.clone(), item).await,
            "cluster" => cluster_ledger(self.cluster.clone().unwrap(), item).await,
            "sql" => sql_ledger(&self.sql, item).await,
            "pg" => pg_ledger(self.pg.as_ref().unwrap(), item).await,
            "sql+sql" => Ledger {
                left: sql_ledger(&self.sql, item).await.left,
                ..sql_ledger(&self.second_sql(), item).await
            },
            "cluster+sql" => Ledger {
                left: redis_ledger(self.cluster.clone().unwrap(), item).await.left,
                ..sql_ledger(&self.sql, item).await
            },
            _ => Ledger {
                left: redis_ledger(self.redis.clone(), item).await.left,
                ..sql_ledger(&self.sql, item).await
            },
        }
    }
}

async fn redis_ledger(mut redis: impl ConnectionLike, item: &str) -> Ledger {
    let (counter, segments, entries): (Option<i64>, Vec<i64>, Vec<(String, String)>) = redis::pipe()
        .get(format!("stock:{{{item}}}"))
        .hvals(format!("segments:{{{item}}}"))
        .hgetall(format!("orders:{{{item}}}"))
        .query_async(&mut redis)
        .await
        .unwrap();
    let order = |(id, entry): (String, String)| {
        let entry: Value = serde_json::from_str(&entry).unwrap();
        let quantity = entry["quantity"].as_i64().unwrap();
        (id, quantity)
    };
    Ledger::new(
        counter.unwrap_or(0) + segments.iter().sum::<i64>(),
        entries.into_iter().map(order),
    )
}

/// An item may lie in several slots.
async fn cluster_ledger(mut cluster: impl ConnectionLike + Clone, item: &str) -> Ledger {
    let mut slots = redis::cmd("GET");
    slots.arg(format!("slots:{{{item}}}"));
    let slots: Option<u32> = slots.query_async(&mut cluster).await.unwrap();
    let mut all = redis_ledger(cluster.clone(), item).await;
    for number in 1..slots.unwrap_or(1) {
        let part = redis_ledger(cluster.clone(), &format!("{item}/{number}")).await;
        all.left += part.left;
        all.orders.extend(part.orders);
    }
    all.orders.sort();
    all
}

async fn sql_ledger(sql: &MySqlPool, item: &str) -> Ledger {
    let rows = sqlx::query(include_str!("../../../sql/facts.sql"))
        .bind(item)
        .bind(10_000)
        .fetch_all(sql)
        .await
        .unwrap();
    let number = |row: &MySqlRow, column: usize| row.get::<String, _>(column).parse::<i64>().unwrap();
    let orders = rows
        .iter()
        .filter_map(|row| Some((row.get::<Option<String>, _>(1)?, number(row, 2))));
    let units = sqlx::query_scalar("select count(*) from stock_units where item = ?");
    let units: i64 = units.bind(item).fetch_one(sql).await.unwrap();
    Ledger::new(number(&rows[0], 0) + units, orders)
}

async fn pg_ledger(pg: &PgPool, item: &str) -> Ledger {
    let left =
        sqlx::query_scalar("select num + (select count(*) from stock_units where item = $1) from store where id = $1")
            .bind(item);
    let orders = sqlx::query_as("select id, quantity from orders where item = $1").bind(item);
    let orders: Vec<(String, i64)> = orders.fetch_all(pg).await.unwrap();
    Ledger::new(left.fetch_one(pg).await.unwrap(), orders.into_iter())
}

/// Counter and ledger of a sale.
#[derive(Debug, PartialEq, Eq)]
pub struct Ledger {
    pub left: i64,
    /// Id and quantity of each order, by id.
    pub orders: Vec<(String, i64)>,
}

impl Ledger {
    fn new(left: i64, orders: impl Iterator<Item = (String, i64)>) -> Self {
        let mut orders: Vec<_> = orders.collect();
        orders.sort();
        Self { left, orders }
    }

    /// Counter and units sold.
    pub fn left_and_sold(&self) -> (i64, i64) {
        (self.left, self.orders.iter().map(|(_, quantity)| quantity).sum())
    }
}
