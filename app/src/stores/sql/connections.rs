//! The connections to a database. They create commands and do not send them, so that every command goes through the seam.

use std::sync::atomic::Ordering;

use deadpool::managed::PoolError;

use super::super::Origin;
use super::pool::Lent;
use super::{Isolation, Row, Sql, Statement};
use crate::domain::Error;
use crate::probe::Command;

/// The attempts of an operator's transaction.
const OPERATOR_TRIES: usize = 5;

impl Sql {
    /// Takes a connection out of the pool. Waits until one is free.
    pub fn connection(&self) -> Command<impl Future<Output = Result<Connection, Error>>> {
        Command::new(async { Ok(Connection(self.lend().await?)) })
    }

    /// Takes a connection for an operator, which is not a step of a purchase.
    pub(super) async fn lend(&self) -> Result<Lent, Error> {
        let mut lent = self.lend_as_it_is().await?;
        let lay = async || {
            for statements in self.engine().schema() {
                let laid = lent.raw(statements).await;
                laid.map_err(|error| super::error::unfit(error, self.engine()))?;
            }
            Ok::<_, Error>(())
        };
        self.is_laid.get_or_try_init(lay).await?;
        Ok(lent)
    }

    async fn lend_as_it_is(&self) -> Result<Lent, Error> {
        match self.connections.get().await {
            Ok(lent) => Ok(Lent::new(lent)),
            Err(PoolError::Backend(refused @ Error::Refused { .. })) => Err(refused),
            Err(other) => Err(Error::no_connection(self.engine().store(), &other)),
        }
    }

    /// Returns the connections that were opened and closed so far, those of every store made from this one with
    /// them. The server notices a closed one somewhat later.
    pub fn opened_and_closed(&self) -> (u64, u64) {
        let tally = &self.connections.manager().tally;
        (
            tally.opened.load(Ordering::Relaxed),
            tally.closed.load(Ordering::Relaxed),
        )
    }

    /// Creates tables. It may be called more than once.
    ///
    /// # Errors
    /// When the database refuses or does not answer; [`Error::Corrupt`] where other tables have the same names.
    pub async fn lay(&self, schema: &'static str) -> Result<(), Error> {
        self.lend()
            .await?
            .raw(schema)
            .await
            .map_err(|error| super::error::unfit(error, self.engine()))
    }

    /// Reads a number for an operator, which is not a step of a purchase.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn count(&self, query: Statement<'_>) -> Result<u64, Error> {
        let row = self.lend().await?.fetch(query).await?;
        Ok(row.map_or(Ok(0), |row| row.try_get::<i64>(0))? as u64)
    }

    /// Executes all of `statements` or none of them, for an operator, which is not a step of a purchase. It tries again
    /// where the database gives up the transaction: purchases may hold the rows that it locks, in another order.
    ///
    /// # Errors
    /// When the database refuses, gives up each time, or does not answer.
    pub async fn operate<'a, const N: usize>(&self, statements: impl Fn() -> [Statement<'a>; N]) -> Result<(), Error> {
        for _ in 1..OPERATOR_TRIES {
            match self.operate_once(statements()).await {
                Err(Error::GivenUp { .. }) => {}
                done => return done,
            }
        }
        self.operate_once(statements()).await
    }

    async fn operate_once<'a, const N: usize>(&self, statements: [Statement<'a>; N]) -> Result<(), Error> {
        let mut link = self.lend().await?;
        link.begin().await?;
        for statement in statements {
            link.execute(statement).await?;
        }
        link.end("commit").await
    }
}

/// A connection that one purchase uses alone. When dropped it returns to the pool, unless it failed or its transaction
/// is open: then it is closed at once, and the database rolls back.
pub struct Connection(pub(super) Lent);

impl Connection {
    /// Returns its origin.
    pub fn origin(&self) -> Origin {
        self.0.origin
    }

    /// Closes the connection, which also ends its locks and session state in the database.
    pub fn close(mut self) {
        self.0.usable = false;
    }

    /// `begin`
    pub fn begin(&mut self) -> Command<impl Future<Output = Result<(), Error>>> {
        Command::new(self.0.begin())
    }

    /// `set transaction isolation level ...`: in MariaDB for the transaction that begins next, in PostgreSQL for the present
    /// one.
    pub fn isolate(&mut self, level: Isolation) -> Command<impl Future<Output = Result<(), Error>>> {
        Command::new(self.0.isolate(level.statement()))
    }

    /// `commit`
    pub fn commit(&mut self) -> Command<impl Future<Output = Result<(), Error>>> {
        Command::new(self.0.end("commit"))
    }

    /// `rollback`
    pub fn rollback(&mut self) -> Command<impl Future<Output = Result<(), Error>>> {
        Command::new(self.0.end("rollback"))
    }

    /// Creates any other statement; its result is the number of rows that it found.
    pub fn execute<'a>(
        &'a mut self,
        statement: Statement<'a>,
    ) -> Command<impl Future<Output = Result<u64, Error>> + 'a> {
        Command::new(self.0.execute(statement))
    }

    /// Creates a query for at most one row.
    pub fn fetch<'a>(
        &'a mut self,
        query: Statement<'a>,
    ) -> Command<impl Future<Output = Result<Option<Row>, Error>> + 'a> {
        Command::new(self.0.fetch(query))
    }

    /// Creates a query for several rows. The query must limit them itself.
    pub fn fetch_all<'a>(
        &'a mut self,
        query: Statement<'a>,
    ) -> Command<impl Future<Output = Result<Vec<Row>, Error>> + 'a> {
        Command::new(self.0.fetch_all(query))
    }
}
