//! A connection as the pool keeps it: what it knows of itself, and whether it may be lent again.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqlx::mysql::{MySqlArguments, MySqlRow};
use sqlx::query::Query;
use sqlx::{Connection as _, MySql, MySqlConnection, SqlSafeStr, raw_sql};
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use super::super::Origin;
use super::Sql;
use crate::domain::Error;
use crate::stores::Store;

/// A statement with its values.
pub type Statement<'a> = Query<'a, MySql, MySqlArguments>;

/// A connection to MariaDB.
pub(super) struct Link {
    connection: MySqlConnection,
    answer_within: Duration,
    pub(super) usable: bool,
    pub(super) origin: Origin,
    pub(super) in_transaction: bool,
    /// Connections of the pool that were lost so far, and how many of them when this one last answered.
    lost: Arc<AtomicU64>,
    lost_when_it_answered: u64,
}

impl Link {
    /// A connection that has just been made, in a pool that has `lost` so many.
    pub(super) fn new(connection: MySqlConnection, answer_within: Duration, lost: Arc<AtomicU64>) -> Self {
        Self {
            connection,
            answer_within,
            usable: true,
            origin: Origin::New,
            in_transaction: false,
            lost_when_it_answered: lost.load(Ordering::Relaxed),
            lost,
        }
    }

    /// Whether whoever has it next finds it as if it were new.
    pub(super) fn is_clean(&self) -> bool {
        self.usable && !self.in_transaction
    }

    /// Whether others of the pool were lost since it last answered: what ended one has most likely ended others.
    pub(super) fn others_were_lost(&self) -> bool {
        self.lost_when_it_answered != self.lost.load(Ordering::Relaxed)
    }

    pub(super) async fn begin(&mut self) -> Result<(), Error> {
        self.in_transaction = true;
        self.raw("begin").await
    }

    pub(super) async fn isolate(&mut self) -> Result<(), Error> {
        // Until that transaction is over, nobody else may have the connection.
        self.in_transaction = true;
        self.raw("set transaction isolation level serializable").await
    }

    pub(super) async fn end(&mut self, how: &'static str) -> Result<(), Error> {
        self.raw(how).await?;
        self.in_transaction = false;
        Ok(())
    }

    pub(super) async fn raw(&mut self, sql: impl SqlSafeStr) -> Result<(), Error> {
        self.asks()?;
        let done = timeout(self.answer_within, raw_sql(sql).execute(&mut self.connection)).await;
        self.settle(done).map(drop)
    }

    pub(super) async fn raw_rows(&mut self, sql: &'static str) -> Result<Vec<MySqlRow>, Error> {
        self.asks()?;
        let found = timeout(self.answer_within, raw_sql(sql).fetch_all(&mut self.connection)).await;
        self.settle(found)
    }

    pub(super) async fn execute(&mut self, statement: Statement<'_>) -> Result<u64, Error> {
        self.asks()?;
        let done = timeout(self.answer_within, statement.execute(&mut self.connection)).await;
        Ok(self.settle(done)?.rows_affected())
    }

    pub(super) async fn fetch(&mut self, query: Statement<'_>) -> Result<Option<MySqlRow>, Error> {
        self.asks()?;
        let found = timeout(self.answer_within, query.fetch_optional(&mut self.connection)).await;
        self.settle(found)
    }

    pub(super) async fn fetch_all(&mut self, query: Statement<'_>) -> Result<Vec<MySqlRow>, Error> {
        self.asks()?;
        let found = timeout(self.answer_within, query.fetch_all(&mut self.connection)).await;
        self.settle(found)
    }

    pub(super) async fn ping(&mut self) -> Result<(), Error> {
        self.asks()?;
        let answered = timeout(self.answer_within, self.connection.ping()).await;
        self.settle(answered)
    }

    /// Nothing is asked after what was never answered: its late answer would be taken for that to the next question.
    fn asks(&mut self) -> Result<(), Error> {
        match std::mem::replace(&mut self.usable, false) {
            true => Ok(()),
            false => Err(Error::failed(Sql::NAME, io::Error::from(io::ErrorKind::NotConnected))),
        }
    }

    /// What MariaDB answered, be it a refusal, leaves the connection as good as it was; anything else does not.
    fn settle<T>(&mut self, answer: Result<sqlx::Result<T>, Elapsed>) -> Result<T, Error> {
        let answer = answer.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut).into()));
        self.usable = answer
            .as_ref()
            .map_or_else(|error| error.as_database_error().is_some(), |_| true);
        if self.usable {
            self.lost_when_it_answered = self.lost.load(Ordering::Relaxed);
        } else {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        Ok(answer?)
    }
}
