//! A connection to MariaDB for administration.

use std::path::Path;

use anyhow::{Context, Result};
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, query_scalar, raw_sql};
use tokio::runtime::{Builder, Runtime};

use super::DATABASE;
use crate::address;

/// A connection, with the runtime that drives it.
pub(super) struct Operator {
    connection: MySqlConnection,
    runtime: Runtime,
}

impl Operator {
    pub(super) fn of(socket: &Path) -> Result<Operator> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let options: MySqlConnectOptions = address::mysql(socket, DATABASE).parse()?;
        let connection = runtime.block_on(options.connect());
        let connection = connection.with_context(|| format!("MariaDB at {} does not answer", socket.display()))?;
        Ok(Operator { connection, runtime })
    }

    /// Runs these statements, one after the other.
    pub(super) fn execute(&mut self, statements: &[&str]) -> Result<()> {
        for statement in statements {
            // Only this crate writes such statements: a port is all that changes in them.
            let done = raw_sql(AssertSqlSafe((*statement).to_owned())).execute(&mut self.connection);
            self.runtime
                .block_on(done)
                .with_context(|| format!("MariaDB refused: {statement}"))?;
        }
        Ok(())
    }

    /// Returns the number of the last transaction in its own binary log; 0 when there is none.
    pub(super) fn logged(&mut self) -> Result<u64> {
        self.position("select @@global.gtid_binlog_pos")
    }

    /// Returns the number of the last transaction that it has from its primary; 0 when it has none.
    pub(super) fn replicated(&mut self) -> Result<u64> {
        self.position("select @@global.gtid_slave_pos")
    }

    /// Reads a position such as `0-1-57`: replication domain, server, and transaction.
    fn position(&mut self, select: &'static str) -> Result<u64> {
        let read = query_scalar(select).fetch_one(&mut self.connection);
        let position: String = self.runtime.block_on(read)?;
        if position.is_empty() {
            return Ok(0);
        }
        let number = position.rsplit('-').next().and_then(|number| number.parse().ok());
        number.with_context(|| format!("MariaDB is at {position:?}, which is no position"))
    }
}
