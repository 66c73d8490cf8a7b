//! Waits for locks inside a store, as the store itself counts them.

use anyhow::{Context, Result};
use sqlx::{Connection, MySqlConnection, Row, query};

/// Counts the connections that wait for a lock of a row, and those that wait for a named lock.
const COUNT: &str = "select cast(variable_value as signed) + \
                     (select count(*) from information_schema.processlist where state = 'User lock') \
                     from information_schema.global_status where variable_name = 'innodb_row_lock_current_waits'";

/// The store that can let a purchase wait. Redis lets none wait: no mechanism sends it a blocking command.
pub struct LockWaits(MySqlConnection);

impl LockWaits {
    /// Connects to MariaDB.
    ///
    /// # Errors
    /// When it cannot be reached.
    pub async fn connect(url: &str) -> Result<Self> {
        let connected = MySqlConnection::connect(url).await;
        Ok(Self(connected.context("MariaDB, which knows which purchases wait")?))
    }

    /// Returns the number of connections that wait for a lock.
    ///
    /// # Errors
    /// When MariaDB does not answer.
    pub async fn count(&mut self) -> Result<usize> {
        let row = query(COUNT).fetch_one(&mut self.0).await.context("MariaDB")?;
        let waits: i64 = row.try_get(0)?;
        Ok(usize::try_from(waits).unwrap_or_default())
    }
}
