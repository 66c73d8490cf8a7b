//! The connections to MariaDB. What they send they hand out as commands, so that only the seam can send it.

use deadpool::managed::PoolError;
use sqlx::Row;
use sqlx::mysql::MySqlRow;

use super::super::Origin;
use super::Sql;
use super::link::Statement;
use super::pool::Lent;
use crate::domain::Error;
use crate::probe::Command;

/// How often an operator's transaction is tried.
const OPERATOR_TRIES: usize = 5;

impl Sql {
    /// A connection. Waits for one to be free.
    pub fn connection(&self) -> Command<impl Future<Output = Result<Connection, Error>>> {
        Command::new(async { Ok(Connection(self.lend().await?)) })
    }

    /// For what an operator asks, which is no step of a purchase.
    pub(super) async fn lend(&self) -> Result<Lent, Error> {
        match self.connections.get().await {
            Ok(lent) => Ok(Lent::new(lent)),
            Err(PoolError::Backend(refused @ Error::Refused { .. })) => Err(refused),
            Err(other) => Err(Error::no_connection("sql", &other)),
        }
    }

    /// Lays tables. It may be done more than once.
    ///
    /// # Errors
    /// When MariaDB refuses or does not answer; [`Error::Corrupt`] where it holds others of the same names.
    pub async fn lay(&self, schema: &'static str) -> Result<(), Error> {
        self.lend().await?.raw(schema).await.map_err(super::error::unfit)
    }

    /// A number that an operator asks for, which is no step of a purchase.
    ///
    /// # Errors
    /// When MariaDB does not answer.
    pub async fn count(&self, query: Statement<'_>) -> Result<u64, Error> {
        let row = self.lend().await?.fetch(query).await?;
        Ok(row.map_or(Ok(0), |row| row.try_get::<i64, _>(0))? as u64)
    }

    /// All of `statements` or none of them, for an operator, which is no step of a purchase. It is begun anew where
    /// MariaDB gives it up: purchases may hold the rows that it locks, in another order.
    ///
    /// # Errors
    /// When MariaDB refuses, gives up each time, or does not answer.
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

/// A connection that nobody else uses meanwhile. When dropped it goes back to the others, unless it failed or its
/// transaction is open: then it is closed at once, and MariaDB rolls back.
pub struct Connection(pub(super) Lent);

impl Connection {
    /// Where it comes from.
    pub fn origin(&self) -> Origin {
        self.0.origin
    }

    /// Ends it, and with it what MariaDB keeps for it.
    pub fn close(mut self) {
        self.0.usable = false;
    }

    /// `begin`
    pub fn begin(&mut self) -> Command<impl Future<Output = Result<(), Error>>> {
        Command::new(self.0.begin())
    }

    /// `set transaction isolation level serializable`, for the transaction that begins next.
    pub fn isolate(&mut self) -> Command<impl Future<Output = Result<(), Error>>> {
        Command::new(self.0.isolate())
    }

    /// `commit`
    pub fn commit(&mut self) -> Command<impl Future<Output = Result<(), Error>>> {
        Command::new(self.0.end("commit"))
    }

    /// `rollback`
    pub fn rollback(&mut self) -> Command<impl Future<Output = Result<(), Error>>> {
        Command::new(self.0.end("rollback"))
    }

    /// Any other statement; answers how many rows it found.
    pub fn execute<'a>(
        &'a mut self,
        statement: Statement<'a>,
    ) -> Command<impl Future<Output = Result<u64, Error>> + 'a> {
        Command::new(self.0.execute(statement))
    }

    /// A query for at most one row.
    pub fn fetch<'a>(
        &'a mut self,
        query: Statement<'a>,
    ) -> Command<impl Future<Output = Result<Option<MySqlRow>, Error>> + 'a> {
        Command::new(self.0.fetch(query))
    }

    /// A query for several rows, which has to limit them itself.
    pub fn fetch_all<'a>(
        &'a mut self,
        query: Statement<'a>,
    ) -> Command<impl Future<Output = Result<Vec<MySqlRow>, Error>> + 'a> {
        Command::new(self.0.fetch_all(query))
    }
}
