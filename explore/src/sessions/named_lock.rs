//! The sessions of named locks: MariaDB closes the connection of the holder.

use std::time::Duration;

use anyhow::{Context, Result};
use sqlx::{AssertSqlSafe, Connection, MySqlConnection, query, query_scalar};
use stack::Stores;
use tokio::time::{sleep, timeout};

/// The pause between two questions whether a connection is gone.
const ASK_EVERY: Duration = Duration::from_micros(300);

/// The longest time until it is gone. Only a MariaDB that no longer answers takes so long.
const GONE_WITHIN: Duration = Duration::from_secs(60);

/// The connections that hold named locks.
pub struct NamedLocks {
    sql: MySqlConnection,
}

impl NamedLocks {
    /// Connects to the MariaDB that keeps the locks.
    ///
    /// # Errors
    /// When it cannot be reached.
    pub async fn connect(stores: &Stores) -> Result<Self> {
        let sql = MySqlConnection::connect(stores.sql_url()).await;
        Ok(Self {
            sql: sql.context("MariaDB, which keeps named locks")?,
        })
    }

    /// Returns the connection that holds the lock of an item, by its number in MariaDB.
    ///
    /// # Errors
    /// When MariaDB does not answer.
    pub async fn holder(&mut self, item: &str) -> Result<Option<i64>> {
        let holder = query_scalar("select is_used_lock(?)").bind(item);
        holder.fetch_one(&mut self.sql).await.context("MariaDB")
    }

    /// Closes the connection that holds the lock of an item, as an operator would, and waits until MariaDB has ended it.
    ///
    /// # Errors
    /// When there is none, or MariaDB does not answer.
    pub async fn end(&mut self, item: &str) -> Result<()> {
        let holder = self.holder(item).await?.context("nobody holds the named lock")?;
        let kill = query(AssertSqlSafe(format!("kill connection {holder}")));
        kill.execute(&mut self.sql).await.context("MariaDB")?;
        let gone = async {
            loop {
                let left = query_scalar("select count(*) from information_schema.processlist where id = ?");
                let left: i64 = left.bind(holder).fetch_one(&mut self.sql).await.context("MariaDB")?;
                if left == 0 {
                    return Ok(());
                }
                sleep(ASK_EVERY).await;
            }
        };
        let gone = timeout(GONE_WITHIN, gone).await;
        gone.context("MariaDB still has a connection a minute after it was killed")?
    }
}
