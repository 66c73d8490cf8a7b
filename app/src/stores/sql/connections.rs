//! The connections to MariaDB. What they send they hand out as commands, so that only the seam can send it.

use std::io;
use std::ops::{Deref, DerefMut};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use deadpool::Runtime;
use deadpool::managed::{self, Metrics, Object, Pool, RecycleError, RecycleResult};
use sqlx::mysql::{MySqlArguments, MySqlConnectOptions, MySqlRow};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection as _, MySql, MySqlConnection, Row, SqlSafeStr, raw_sql};
use tokio::time::error::Elapsed;
use tokio::time::timeout;

use super::super::{ANSWER_WITHIN, CONNECT_WITHIN, Origin, POOL_SIZE, UNTESTED_FOR};
use super::Sql;
use super::error::{UNKNOWN_VARIABLE, number};
use crate::probe::Command;
use crate::sale::Error;

/// A statement with its values.
pub type Statement<'a> = Query<'a, MySql, MySqlArguments>;

/// How often an operator's transaction is tried.
const OPERATOR_TRIES: usize = 5;

pub(super) type Connections = Pool<Manager>;

/// Connections on which a wait for a row ends after `wait`, and any statement after some time more.
pub(super) fn open(url: &str, wait: Duration) -> Result<Connections, Error> {
    let manager = Manager {
        options: MySqlConnectOptions::from_str(url)?,
        // Whole seconds are all that InnoDB takes.
        row_wait: Duration::from_secs_f64(wait.as_secs_f64().ceil().max(1.0)),
        snapshot_isolation: false,
        lost: Arc::default(),
    };
    pool(manager, wait)
}

/// As many others to the same place, with `innodb_snapshot_isolation` on or off.
pub(super) fn like(other: &Connections, snapshot_isolation: bool) -> Result<Connections, Error> {
    let wait = other.timeouts().wait.unwrap_or_default();
    let manager = Manager {
        snapshot_isolation,
        lost: Arc::default(),
        ..other.manager().clone()
    };
    pool(manager, wait)
}

fn pool(manager: Manager, wait: Duration) -> Result<Connections, Error> {
    Pool::builder(manager)
        .max_size(POOL_SIZE)
        .wait_timeout(Some(wait))
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(|error| Error::no_connection("sql", &error))
}

impl Sql {
    /// A connection. Waits for one to be free.
    pub fn connection(&self) -> Command<impl Future<Output = Result<Connection, Error>>> {
        Command::new(async { Ok(Connection(self.lend().await?)) })
    }

    /// For what an operator asks, which is no step of a purchase.
    pub(super) async fn lend(&self) -> Result<Lent, Error> {
        let lent = self.connections.get().await;
        Ok(Lent(Some(lent.map_err(|error| Error::no_connection("sql", &error))?)))
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

/// A link on loan. One that is not to be lent again is closed when it is dropped: in the pool it would keep its locks
/// until somebody asks for it.
pub(super) struct Lent(Option<Object<Manager>>);

impl Deref for Lent {
    type Target = Link;

    fn deref(&self) -> &Link {
        self.0.as_ref().expect("it is taken out only when it is dropped")
    }
}

impl DerefMut for Lent {
    fn deref_mut(&mut self) -> &mut Link {
        self.0.as_mut().expect("it is taken out only when it is dropped")
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(lent) = self.0.take_if(|link| !link.is_clean()) {
            drop(Object::take(lent));
        }
    }
}

pub(super) struct Link {
    connection: MySqlConnection,
    answer_within: Duration,
    usable: bool,
    origin: Origin,
    pub(super) in_transaction: bool,
    /// Connections of the pool that were lost so far, and how many of them when this one last answered.
    lost: Arc<AtomicU64>,
    lost_when_it_answered: u64,
}

impl Link {
    /// Whether whoever has it next finds it as if it were new.
    fn is_clean(&self) -> bool {
        self.usable && !self.in_transaction
    }

    async fn begin(&mut self) -> Result<(), Error> {
        self.in_transaction = true;
        self.raw("begin").await
    }

    async fn isolate(&mut self) -> Result<(), Error> {
        // Until that transaction is over, nobody else may have the connection.
        self.in_transaction = true;
        self.raw("set transaction isolation level serializable").await
    }

    async fn end(&mut self, how: &'static str) -> Result<(), Error> {
        self.raw(how).await?;
        self.in_transaction = false;
        Ok(())
    }

    pub(super) async fn raw(&mut self, sql: impl SqlSafeStr) -> Result<(), Error> {
        self.usable = false;
        let done = timeout(self.answer_within, raw_sql(sql).execute(&mut self.connection)).await;
        self.settle(done).map(drop)
    }

    pub(super) async fn raw_rows(&mut self, sql: &'static str) -> Result<Vec<MySqlRow>, Error> {
        self.usable = false;
        let found = timeout(self.answer_within, raw_sql(sql).fetch_all(&mut self.connection)).await;
        self.settle(found)
    }

    async fn execute(&mut self, statement: Statement<'_>) -> Result<u64, Error> {
        self.usable = false;
        let done = timeout(self.answer_within, statement.execute(&mut self.connection)).await;
        Ok(self.settle(done)?.rows_affected())
    }

    pub(super) async fn fetch(&mut self, query: Statement<'_>) -> Result<Option<MySqlRow>, Error> {
        self.usable = false;
        let found = timeout(self.answer_within, query.fetch_optional(&mut self.connection)).await;
        self.settle(found)
    }

    async fn fetch_all(&mut self, query: Statement<'_>) -> Result<Vec<MySqlRow>, Error> {
        self.usable = false;
        let found = timeout(self.answer_within, query.fetch_all(&mut self.connection)).await;
        self.settle(found)
    }

    pub(super) async fn ping(&mut self) -> Result<(), Error> {
        self.usable = false;
        let answered = timeout(self.answer_within, self.connection.ping()).await;
        self.settle(answered)
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

#[derive(Clone)]
pub(super) struct Manager {
    options: MySqlConnectOptions,
    row_wait: Duration,
    snapshot_isolation: bool,
    lost: Arc<AtomicU64>,
}

impl Manager {
    /// Sets `innodb_snapshot_isolation`, whose default is off in MariaDB 10.11 and on from 11.6: with it, an update in a
    /// REPEATABLE READ transaction is refused with error 1020 where its row has changed since the transaction began to
    /// read. A server that does not know it has it off.
    async fn pin_snapshot_isolation(&self, connection: &mut MySqlConnection) -> sqlx::Result<()> {
        let pin = match self.snapshot_isolation {
            true => "set session innodb_snapshot_isolation = 1",
            false => "set session innodb_snapshot_isolation = 0",
        };
        match raw_sql(pin).execute(connection).await {
            Err(error) if !self.snapshot_isolation && number(&error) == Some(UNKNOWN_VARIABLE) => Ok(()),
            pinned => pinned.map(drop),
        }
    }
}

impl managed::Manager for Manager {
    type Type = Link;
    type Error = Error;

    async fn create(&self) -> Result<Link, Error> {
        // MariaDB ends a statement by itself before the client gives it up, and no earlier than a wait for a row.
        let statement = self.row_wait + ANSWER_WITHIN;
        let settings = format!(
            "set session innodb_lock_wait_timeout = {}, session max_statement_time = {}",
            self.row_wait.as_secs(),
            statement.as_secs(),
        );
        let connecting = async {
            let mut connection = self.options.connect().await?;
            raw_sql(AssertSqlSafe(settings)).execute(&mut connection).await?;
            self.pin_snapshot_isolation(&mut connection).await?;
            Ok(connection)
        };
        let connected: sqlx::Result<_> = timeout(CONNECT_WITHIN, connecting)
            .await
            .unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut).into()));
        Ok(Link {
            connection: connected?,
            answer_within: statement + CONNECT_WITHIN,
            usable: true,
            origin: Origin::New,
            in_transaction: false,
            lost_when_it_answered: self.lost.load(Ordering::Relaxed),
            lost: self.lost.clone(),
        })
    }

    async fn recycle(&self, link: &mut Link, metrics: &Metrics) -> RecycleResult<Error> {
        if !link.is_clean() {
            return Err(RecycleError::message("it failed, or its transaction is open"));
        }
        link.origin = Origin::Kept;
        // What ended one connection has most likely ended others.
        let others_were_lost = link.lost_when_it_answered != self.lost.load(Ordering::Relaxed);
        if others_were_lost || metrics.last_used() > UNTESTED_FOR {
            link.origin = Origin::Tested;
            timeout(CONNECT_WITHIN, link.ping())
                .await
                .map_err(|_| RecycleError::message("it did not answer"))??;
        }
        Ok(())
    }
}
