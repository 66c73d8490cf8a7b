//! Facts from PostgreSQL, by the one statement of `sql/pg_facts.sql`.

use std::collections::HashSet;

use anyhow::Result;
use async_trait::async_trait;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, SqlStr, query, query_scalar, raw_sql};

use super::damaged::Damaged;
use super::idle::Idle;
use super::rows::{facts, order, with_units};
use super::{Facts, Ledger, MOST_OTHER_ITEMS, MOST_OTHER_ORDERS, Order};

const FACTS: &str = include_str!("../../../sql/pg_facts.sql");

/// The units of an item that lie in rows of their own.
const UNITS: &str = "(select count(*)::text from stock_units u where u.item = s.id)";

/// Whether there is a table of such units. It is optional.
const HAS_UNITS: &str = "select to_regclass('stock_units') is not null";

/// The level that is read with, whatever a server gives to a session that does not choose one.
const COMMITTED_ONLY: &str = "set session characteristics as transaction isolation level read committed";

/// The items that have orders.
const ITEMS: &str = "select distinct left(item::text, 65) from orders limit $1";

/// The orders of one item, whether it is for sale or not.
const ORDERS: &str = "select left(id::text, 129), left(quantity::text, 32), left(buyer::text, 65), \
                      left(idempotency_key::text, 65) from orders where item = $1 limit $2";

/// The version, and the level of a session that does not choose one.
const VERSION: &str = "select split_part(current_setting('server_version'), ' ', 1) || ', ' \
                       || current_setting('default_transaction_isolation')";

/// Each table, with a statement that reads all of its values.
const CHECKS: [(&str, &str); 2] = [
    ("store", "select count(row(s.*)::text) from store s"),
    ("orders", "select count(row(o.*)::text) from orders o"),
];

pub(super) struct Pg {
    options: PgConnectOptions,
    idle: Idle<PgConnection>,
    with_units: SqlStr,
}

impl Pg {
    pub(super) fn new(url: &str) -> Result<Self> {
        Ok(Self {
            options: url.parse()?,
            idle: Idle::default(),
            with_units: with_units(FACTS, UNITS),
        })
    }

    async fn connect(&self) -> Result<PgConnection> {
        let mut connection = self.options.connect().await?;
        raw_sql(COMMITTED_ONLY).execute(&mut connection).await?;
        Ok(connection)
    }

    async fn read_on(&self, mut connection: PgConnection, item: &str, limit: usize) -> Result<Facts> {
        let has_units: bool = query_scalar(HAS_UNITS).fetch_one(&mut connection).await?;
        let facts_of = match has_units {
            true => query(self.with_units.clone()),
            false => query(FACTS),
        };
        let rows = facts_of.bind(item).bind(bound(limit + 1));
        let rows = rows.fetch_all(&mut connection).await?;
        self.idle.push(connection);
        facts(&rows, item, limit)
    }
}

#[async_trait]
impl Ledger for Pg {
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
        let named = query_scalar(ITEMS).bind(bound(items.len() + MOST_OTHER_ITEMS));
        let named: Vec<Option<String>> = named.fetch_all(&mut connection).await?;
        let others = named
            .into_iter()
            .flatten()
            .filter(|item| !items.contains(item.as_str()));
        let mut orders = Vec::new();
        for item in others.take(MOST_OTHER_ITEMS) {
            let rows = query(ORDERS).bind(&item).bind(bound(MOST_OTHER_ORDERS));
            for row in rows.fetch_all(&mut connection).await? {
                orders.extend(order(&row, 0)?);
            }
        }
        Ok(orders)
    }

    async fn version(&self) -> Result<String> {
        let mut connection = self.connect().await?;
        let version = query_scalar(VERSION).fetch_one(&mut connection).await?;
        Ok(version)
    }

    /// Lets the server read every value of both tables.
    async fn check(&self) -> Result<()> {
        let mut connection = self.connect().await?;
        for (table, statement) in CHECKS {
            let read = raw_sql(statement).execute(&mut connection).await;
            read.map_err(|error| damage_or(error, table))?;
        }
        Ok(())
    }
}

/// A table that is missing or cannot be read is damaged. Any other error says nothing of the table.
fn damage_or(error: sqlx::Error, table: &str) -> anyhow::Error {
    const UNDEFINED_TABLE: &str = "42P01";
    /// The class of internal errors, of which some are a damaged page, index or row.
    const INTERNAL: &str = "XX";
    let code = error.as_database_error().and_then(|answer| answer.code());
    match code {
        Some(code) if code == UNDEFINED_TABLE || code.starts_with(INTERNAL) => Damaged {
            table: table.to_owned(),
            message: error.to_string(),
        }
        .into(),
        _ => error.into(),
    }
}

/// Returns the number as PostgreSQL takes it.
fn bound(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
