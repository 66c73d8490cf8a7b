//! Facts from MariaDB, by the one statement of `sql/facts.sql`.

use std::collections::HashSet;

use anyhow::Result;
use async_trait::async_trait;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};
use sqlx::{ConnectOptions, Row, SqlStr};

use super::damaged::Damaged;
use super::idle::Idle;
use super::rows::{facts, order, with_units};
use super::{Facts, Ledger, MOST_OTHER_ITEMS, MOST_OTHER_ORDERS, Order};

const FACTS: &str = include_str!("../../../sql/facts.sql");

/// The units of an item that lie in rows of their own.
const UNITS: &str = "(select cast(count(*) as char) from stock_units u where u.item = s.id)";

/// Whether there is a table of such units. It is optional.
const HAS_UNITS: &str = "select count(*) > 0 from information_schema.tables \
                         where table_schema = database() and table_name = 'stock_units'";

/// Hides what is not committed: a server may show that to every session that does not choose a level of its own.
const COMMITTED_ONLY: &str = "set session transaction isolation level read committed";

/// The items that have orders.
const ITEMS: &str = "select distinct left(cast(item as char), 65) from orders limit ?";

/// The orders of one item, whether it is for sale or not.
const ORDERS: &str = "select left(cast(id as char), 129), left(cast(quantity as char), 32), \
                      left(cast(buyer as char), 65), left(cast(idempotency_key as char), 65) \
                      from orders where item = ? limit ?";

pub(super) struct Sql {
    options: MySqlConnectOptions,
    idle: Idle<MySqlConnection>,
    with_units: SqlStr,
}

impl Sql {
    pub(super) fn new(url: &str) -> Result<Self> {
        Ok(Self {
            options: url.parse()?,
            idle: Idle::default(),
            with_units: with_units(FACTS, UNITS),
        })
    }

    async fn connect(&self) -> Result<MySqlConnection> {
        let mut connection = self.options.connect().await?;
        sqlx::raw_sql(COMMITTED_ONLY).execute(&mut connection).await?;
        Ok(connection)
    }

    async fn read_on(&self, mut connection: MySqlConnection, item: &str, limit: usize) -> Result<Facts> {
        let has_units: bool = sqlx::query_scalar(HAS_UNITS).fetch_one(&mut connection).await?;
        let facts_of = match has_units {
            true => sqlx::query(self.with_units.clone()),
            false => sqlx::query(FACTS),
        };
        let rows = facts_of.bind(item).bind(limit as u64 + 1);
        let rows = rows.fetch_all(&mut connection).await?;
        self.idle.push(connection);
        facts(&rows, item, limit)
    }
}

#[async_trait]
impl Ledger for Sql {
    async fn read(&self, item: &str, limit: usize) -> Result<Facts> {
        // An idle connection may lead to a store that was restarted meanwhile.
        if let Some(idle) = self.idle.pop()
            && let Ok(facts) = self.read_on(idle, item, limit).await
        {
            return Ok(facts);
        }
        self.read_on(self.connect().await?, item, limit).await
    }

    async fn elsewhere(&self, items: &HashSet<&str>) -> Result<Vec<Order>> {
        let mut connection = self.connect().await?;
        let named = sqlx::query_scalar(ITEMS).bind((items.len() + MOST_OTHER_ITEMS) as u64);
        let named: Vec<Option<String>> = named.fetch_all(&mut connection).await?;
        let others = named
            .into_iter()
            .flatten()
            .filter(|item| !items.contains(item.as_str()));
        let mut orders = Vec::new();
        for item in others.take(MOST_OTHER_ITEMS) {
            let rows = sqlx::query(ORDERS).bind(&item).bind(MOST_OTHER_ORDERS as u64);
            for row in rows.fetch_all(&mut connection).await? {
                orders.extend(order(&row, 0)?);
            }
        }
        Ok(orders)
    }

    /// Returns the version together with the global `innodb_snapshot_isolation`.
    async fn version(&self) -> Result<String> {
        let mut connection = self.connect().await?;
        let version: String = sqlx::query_scalar("select version()")
            .fetch_one(&mut connection)
            .await?;
        // This setting decides whether an update fails when its row has changed since it was read. Not every server
        // knows it.
        let setting = sqlx::query("show global variables like 'innodb_snapshot_isolation'")
            .fetch_optional(&mut connection)
            .await?;
        let Some(setting) = setting else { return Ok(version) };
        let (name, value): (String, String) = (setting.try_get(0)?, setting.try_get(1)?);
        Ok(format!("{version}, {name} {value}"))
    }

    async fn check(&self) -> Result<()> {
        let mut connection = self.connect().await?;
        let rows = sqlx::raw_sql("check table store, orders")
            .fetch_all(&mut connection)
            .await?;
        for row in rows {
            let (table, kind, message): (String, String, String) = (row.try_get(0)?, row.try_get(2)?, row.try_get(3)?);
            if kind != "note" && message != "OK" {
                return Err(Damaged { table, message }.into());
            }
        }
        Ok(())
    }
}
