//! One connection to a server, by the protocol of its kind.

use sqlx::mysql::{MySqlConnectOptions, MySqlRow};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection as _, MySqlConnection, PgConnection, SqlSafeStr, raw_sql};

use super::error::{UNKNOWN_VARIABLE, number};
use super::{Engine, Row, Statement};

/// How a server is reached. It has no `Debug`: it may hold a password.
#[derive(Clone)]
pub(super) enum Options {
    MariaDb(Box<MySqlConnectOptions>),
    Postgres(Box<PgConnectOptions>),
}

/// The limits of a session, in seconds, and its setting of snapshots.
#[derive(Clone, Copy)]
pub(super) struct Session {
    /// The longest wait for a row.
    pub(super) row_wait_s: u64,
    /// The longest time for a statement: the server ends it then.
    pub(super) statement_s: u64,
    /// Whether `innodb_snapshot_isolation` is on; MariaDB alone has it.
    pub(super) snapshot_isolation: bool,
}

impl Options {
    pub(super) fn parse(engine: Engine, url: &str) -> sqlx::Result<Self> {
        // A paused holder keeps others waiting: a line for each of their statements would hide the rest of the log. Steps are
        // logged by the probe.
        Ok(match engine {
            Engine::MariaDb => {
                let options: MySqlConnectOptions = url.parse()?;
                Self::MariaDb(Box::new(options.disable_statement_logging()))
            }
            Engine::Postgres => {
                let options: PgConnectOptions = url.parse()?;
                Self::Postgres(Box::new(options.disable_statement_logging()))
            }
        })
    }

    pub(super) fn engine(&self) -> Engine {
        match self {
            Self::MariaDb(_) => Engine::MariaDb,
            Self::Postgres(_) => Engine::Postgres,
        }
    }

    pub(super) async fn connect(&self, session: Session) -> sqlx::Result<Client> {
        let Session {
            row_wait_s,
            statement_s,
            snapshot_isolation,
        } = session;
        match self {
            Self::MariaDb(options) => {
                let mut connection = options.connect().await?;
                let settings = format!(
                    "set session innodb_lock_wait_timeout = {row_wait_s}, session max_statement_time = {statement_s}"
                );
                raw_sql(AssertSqlSafe(settings)).execute(&mut connection).await?;
                pin_snapshot_isolation(&mut connection, snapshot_isolation).await?;
                Ok(Client::MariaDb(connection))
            }
            Self::Postgres(options) => {
                let mut connection = options.connect().await?;
                let settings = format!("set lock_timeout = '{row_wait_s}s'; set statement_timeout = '{statement_s}s'");
                raw_sql(AssertSqlSafe(settings)).execute(&mut connection).await?;
                Ok(Client::Postgres(connection))
            }
        }
    }
}

/// Sets `innodb_snapshot_isolation`. It is off by default in MariaDB 10.11, and on from 11.6. When it is on, a
/// REPEATABLE READ transaction may not update a row that has changed since the transaction began to read: error 1020. A
/// server without this setting behaves as if it were off.
async fn pin_snapshot_isolation(connection: &mut MySqlConnection, is_on: bool) -> sqlx::Result<()> {
    let pin = match is_on {
        true => "set session innodb_snapshot_isolation = 1",
        false => "set session innodb_snapshot_isolation = 0",
    };
    match raw_sql(pin).execute(connection).await {
        Err(error) if !is_on && number(&error) == Some(UNKNOWN_VARIABLE) => Ok(()),
        pinned => pinned.map(drop),
    }
}

/// A connection.
pub(super) enum Client {
    MariaDb(MySqlConnection),
    Postgres(PgConnection),
}

impl Client {
    pub(super) async fn raw(&mut self, sql: impl SqlSafeStr) -> sqlx::Result<()> {
        match self {
            Self::MariaDb(connection) => raw_sql(sql).execute(connection).await.map(drop),
            Self::Postgres(connection) => raw_sql(sql).execute(connection).await.map(drop),
        }
    }

    /// Runs a statement of MariaDB that takes no values. PostgreSQL has no row for it.
    pub(super) async fn raw_rows(&mut self, sql: &'static str) -> sqlx::Result<Vec<MySqlRow>> {
        match self {
            Self::MariaDb(connection) => raw_sql(sql).fetch_all(connection).await,
            Self::Postgres(_) => Ok(Vec::new()),
        }
    }

    /// Returns the number of rows that the statement found.
    pub(super) async fn execute(&mut self, statement: Statement<'_>) -> sqlx::Result<u64> {
        Ok(match self {
            Self::MariaDb(connection) => statement.for_mariadb().execute(connection).await?.rows_affected(),
            Self::Postgres(connection) => statement.for_postgres().execute(connection).await?.rows_affected(),
        })
    }

    pub(super) async fn fetch(&mut self, statement: Statement<'_>) -> sqlx::Result<Option<Row>> {
        Ok(match self {
            Self::MariaDb(connection) => {
                let row = statement.for_mariadb().fetch_optional(connection).await?;
                row.map(Row::MariaDb)
            }
            Self::Postgres(connection) => {
                let row = statement.for_postgres().fetch_optional(connection).await?;
                row.map(Row::Postgres)
            }
        })
    }

    pub(super) async fn fetch_all(&mut self, statement: Statement<'_>) -> sqlx::Result<Vec<Row>> {
        Ok(match self {
            Self::MariaDb(connection) => {
                let rows = statement.for_mariadb().fetch_all(connection).await?;
                rows.into_iter().map(Row::MariaDb).collect()
            }
            Self::Postgres(connection) => {
                let rows = statement.for_postgres().fetch_all(connection).await?;
                rows.into_iter().map(Row::Postgres).collect()
            }
        })
    }

    pub(super) async fn ping(&mut self) -> sqlx::Result<()> {
        match self {
            Self::MariaDb(connection) => connection.ping().await,
            Self::Postgres(connection) => connection.ping().await,
        }
    }
}
