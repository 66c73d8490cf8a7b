//! Facts from MariaDB, by the one statement of `sql/facts.sql`.

use anyhow::{Context, Result};
use sqlx::Row;
use sqlx::mysql::{MySqlPool, MySqlPoolOptions, MySqlRow};

use super::{Facts, Order};
use crate::shop::ANSWER_WITHIN;

const FACTS: &str = include_str!("../../../sql/facts.sql");

pub(super) struct Sql {
    pool: MySqlPool,
}

impl Sql {
    pub(super) async fn connect(url: &str) -> Result<Self> {
        let pool = MySqlPoolOptions::new()
            .max_connections(1)
            .acquire_timeout(ANSWER_WITHIN)
            .connect(url)
            .await?;
        Ok(Self { pool })
    }

    pub(super) async fn read(&self, item: &str, limit: usize) -> Result<Facts> {
        let rows = sqlx::query(FACTS)
            .bind(item)
            .bind(limit as u64 + 1)
            .fetch_all(&self.pool)
            .await?;
        let first = rows.first().context("no such sale is open")?;
        let mut facts = Facts {
            stock_left: first.try_get(0)?,
            orders: Vec::with_capacity(rows.len()),
            cut_short: rows.len() > limit,
        };
        for row in &rows {
            facts.orders.extend(order(row)?);
        }
        facts.orders.sort();
        Ok(facts)
    }

    pub(super) async fn version(&self) -> Result<String> {
        Ok(sqlx::query_scalar("select version()").fetch_one(&self.pool).await?)
    }
}

/// The order of a row; a sale without orders has one row without one.
fn order(row: &MySqlRow) -> Result<Option<Order>> {
    let Some(id) = row.try_get::<Option<String>, _>(1)? else {
        return Ok(None);
    };
    Ok(Some(Order {
        id,
        quantity: row.try_get(2)?,
        key: row.try_get(4)?,
    }))
}
