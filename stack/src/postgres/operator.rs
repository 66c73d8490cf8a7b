//! A connection to PostgreSQL for administration.

use std::path::Path;

use anyhow::{Context, Result};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, query_scalar};
use tokio::runtime::{Builder, Runtime};

use crate::address;

/// A connection, with the runtime that drives it.
pub(super) struct Operator {
    connection: PgConnection,
    runtime: Runtime,
}

impl Operator {
    pub(super) fn of(socket: &Path) -> Result<Operator> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let url = address::postgres(socket).context("no client finds this socket")?;
        let options: PgConnectOptions = url.parse()?;
        let connection = runtime.block_on(options.connect());
        let connection = connection.with_context(|| format!("PostgreSQL at {} does not answer", socket.display()))?;
        Ok(Operator { connection, runtime })
    }

    /// Returns where the next record of its log will be.
    pub(super) fn logged(&mut self) -> Result<i64> {
        self.ask("select (pg_current_wal_lsn() - '0/0')::bigint")
    }

    /// Returns where the last record ended that it has from its primary.
    pub(super) fn replicated(&mut self) -> Result<i64> {
        self.ask("select coalesce(pg_last_wal_replay_lsn() - '0/0', 0)::bigint")
    }

    /// Returns the number of the history that it writes: a promotion begins another one.
    pub(super) fn timeline(&mut self) -> Result<i64> {
        self.ask("select ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::bigint")
    }

    /// Ends its recovery, and with it the replication; returns when it writes.
    pub(super) fn promote(&mut self) -> Result<()> {
        let promoted = query_scalar("select pg_promote()").fetch_one(&mut self.connection);
        let is_promoted: bool = self.runtime.block_on(promoted)?;
        is_promoted.then_some(()).context("PostgreSQL was not promoted")
    }

    fn ask(&mut self, select: &'static str) -> Result<i64> {
        let read = query_scalar(select).fetch_one(&mut self.connection);
        Ok(self.runtime.block_on(read)?)
    }
}
