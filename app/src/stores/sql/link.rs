//! A connection in the pool: its state, and whether it may be lent again.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use sqlx::SqlSafeStr;
use sqlx::mysql::MySqlRow;
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use super::super::Origin;
use super::client::Client;
use super::error::{is_end_of_connection, meaning};
use super::pool::{Manager, Tally};
use super::{Engine, Row, Statement};
use crate::domain::Error;

/// A connection to a server.
pub(super) struct Link {
    client: Client,
    engine: Engine,
    answer_within: Duration,
    pub(super) usable: bool,
    pub(super) origin: Origin,
    pub(super) in_transaction: bool,
    /// Whether it may still hold a lock of its own, which only ends with it.
    pub(super) holds_lock: bool,
    /// The count of lost connections of the pool: now, and when this one last answered.
    lost: Arc<AtomicU64>,
    lost_when_it_answered: u64,
    tally: Arc<Tally>,
}

impl Drop for Link {
    fn drop(&mut self) {
        self.tally.closed.fetch_add(1, Ordering::Relaxed);
    }
}

impl Link {
    /// Wraps a new connection of the pool of `manager`.
    pub(super) fn new(client: Client, answer_within: Duration, manager: &Manager) -> Self {
        manager.tally.opened.fetch_add(1, Ordering::Relaxed);
        Self {
            client,
            engine: manager.engine(),
            answer_within,
            usable: true,
            origin: Origin::New,
            in_transaction: false,
            holds_lock: false,
            lost_when_it_answered: manager.lost.load(Ordering::Relaxed),
            lost: manager.lost.clone(),
            tally: manager.tally.clone(),
        }
    }

    /// Returns whether the next user finds it like a new one.
    pub(super) fn is_clean(&self) -> bool {
        self.usable && !self.in_transaction && !self.holds_lock
    }

    /// Returns whether other connections of the pool were lost since it last answered: the cause of one loss has most
    /// likely ended others too.
    pub(super) fn others_were_lost(&self) -> bool {
        self.lost_when_it_answered != self.lost.load(Ordering::Relaxed)
    }

    pub(super) async fn begin(&mut self) -> Result<(), Error> {
        self.in_transaction = true;
        self.raw("begin").await
    }

    pub(super) async fn isolate(&mut self, statement: &'static str) -> Result<(), Error> {
        // In MariaDB the setting is for the next transaction: until its end the connection must not be lent to another
        // purchase.
        self.in_transaction = true;
        self.raw(statement).await
    }

    pub(super) async fn end(&mut self, how: &'static str) -> Result<(), Error> {
        self.raw(how).await?;
        self.in_transaction = false;
        Ok(())
    }

    pub(super) async fn raw(&mut self, sql: impl SqlSafeStr) -> Result<(), Error> {
        self.asks()?;
        let done = timeout(self.answer_within, self.client.raw(sql)).await;
        self.settle(done)
    }

    pub(super) async fn raw_rows(&mut self, sql: &'static str) -> Result<Vec<MySqlRow>, Error> {
        self.asks()?;
        let found = timeout(self.answer_within, self.client.raw_rows(sql)).await;
        self.settle(found)
    }

    pub(super) async fn execute(&mut self, statement: Statement<'_>) -> Result<u64, Error> {
        self.asks()?;
        let done = timeout(self.answer_within, self.client.execute(statement)).await;
        self.settle(done)
    }

    pub(super) async fn fetch(&mut self, query: Statement<'_>) -> Result<Option<Row>, Error> {
        self.asks()?;
        let found = timeout(self.answer_within, self.client.fetch(query)).await;
        self.settle(found)
    }

    pub(super) async fn fetch_all(&mut self, query: Statement<'_>) -> Result<Vec<Row>, Error> {
        self.asks()?;
        let found = timeout(self.answer_within, self.client.fetch_all(query)).await;
        self.settle(found)
    }

    pub(super) async fn ping(&mut self) -> Result<(), Error> {
        self.asks()?;
        let answered = timeout(self.answer_within, self.client.ping()).await;
        self.settle(answered)
    }

    /// Marks the connection as unusable until its answer arrives. It refuses a statement after one that was never
    /// answered: the late answer would be taken for the answer to the new one.
    fn asks(&mut self) -> Result<(), Error> {
        match std::mem::replace(&mut self.usable, false) {
            true => Ok(()),
            false => Err(Error::failed(
                self.engine.store(),
                io::Error::from(io::ErrorKind::NotConnected),
            )),
        }
    }

    /// Makes the connection usable again if the server answered, even by a refusal.
    fn settle<T>(&mut self, answer: Result<sqlx::Result<T>, Elapsed>) -> Result<T, Error> {
        let answer = answer.unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut).into()));
        self.usable = answer.as_ref().map_or_else(
            |error| error.as_database_error().is_some() && !is_end_of_connection(error),
            |_| true,
        );
        if self.usable {
            self.lost_when_it_answered = self.lost.load(Ordering::Relaxed);
        } else {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
        answer.map_err(|error| meaning(self.engine, error))
    }
}
