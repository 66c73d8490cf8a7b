//! Facts from MariaDB, by the one statement of `sql/facts.sql`.

use anyhow::{Result, ensure};
use async_trait::async_trait;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection, MySqlRow};
use sqlx::{ConnectOptions, Row};

use super::idle::Idle;
use super::{Facts, Ledger, Order};

const FACTS: &str = include_str!("../../../sql/facts.sql");

pub(super) struct Sql {
    options: MySqlConnectOptions,
    idle: Idle<MySqlConnection>,
}

impl Sql {
    pub(super) fn new(url: &str) -> Result<Self> {
        Ok(Self {
            options: url.parse()?,
            idle: Idle::default(),
        })
    }

    async fn read_on(&self, mut connection: MySqlConnection, item: &str, limit: usize) -> Result<Facts> {
        let rows = sqlx::query(FACTS).bind(item).bind(limit as u64 + 1);
        let rows = rows.fetch_all(&mut connection).await?;
        self.idle.push(connection);
        facts(&rows, limit)
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
        self.read_on(self.options.connect().await?, item, limit).await
    }

    /// Returns the version together with the global `innodb_snapshot_isolation`.
    async fn version(&self) -> Result<String> {
        let mut connection = self.options.connect().await?;
        let version: String = sqlx::query_scalar("select version()")
            .fetch_one(&mut connection)
            .await?;
        // This setting decides whether an update fails when its row has changed since it was read. Not every server
        // knows it.
        let setting = sqlx::query("show global variables like 'innodb_snapshot_isolation'")
            .fetch_optional(&mut connection)
            .await?;
        self.idle.push(connection);
        let Some(setting) = setting else { return Ok(version) };
        let (name, value): (String, String) = (setting.try_get(0)?, setting.try_get(1)?);
        Ok(format!("{version}, {name} {value}"))
    }

    async fn check(&self) -> Result<()> {
        let mut connection = self.options.connect().await?;
        let rows = sqlx::raw_sql("check table store, orders")
            .fetch_all(&mut connection)
            .await?;
        for row in rows {
            let (table, kind, message): (String, String, String) = (row.try_get(0)?, row.try_get(2)?, row.try_get(3)?);
            ensure!(kind == "note" || message == "OK", "{table} is damaged: {message}");
        }
        Ok(())
    }
}

fn facts(rows: &[MySqlRow], limit: usize) -> Result<Facts> {
    let mut facts = Facts {
        cut_short: rows.len() > limit,
        ..Facts::default()
    };
    for (nth, row) in rows.iter().enumerate() {
        let left = number(row.try_get(0)?);
        facts.stock_left = if nth == 0 {
            left
        } else {
            facts.stock_left.filter(|first| left == Some(*first))
        };
        let is_order: bool = row.try_get(5)?;
        if !is_order {
            continue;
        }
        match (row.try_get(1)?, number(row.try_get(2)?)) {
            (Some(id), Some(quantity)) => facts.orders.push(Order {
                id,
                quantity,
                buyer: row.try_get(3)?,
                key: row.try_get(4)?,
            }),
            _ => facts.unreadable += 1,
        }
    }
    facts.orders.sort();
    Ok(facts)
}

fn number(text: Option<String>) -> Option<i64> {
    text?.parse().ok()
}
