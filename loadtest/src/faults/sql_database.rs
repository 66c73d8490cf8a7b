//! The SQL database that holds the sales or the locks of a strategy: MariaDB or PostgreSQL.

use anyhow::{Context, Result};
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, query_scalar, raw_sql};
use stack::{ServerKind, ServiceKind};

use crate::attack::AttackControl;
use crate::deployment::requirement::{Requirement, servers};
use crate::phase::Phase;
use crate::shop::catalogue::Strategy;

/// Returns each SQL database of the strategy.
pub(crate) fn all(strategy: &Strategy) -> Vec<ServiceKind> {
    let mut databases = servers(strategy);
    databases.retain(|kind| [ServerKind::MariaDb, ServerKind::Postgres].contains(&kind.program()));
    databases
}

/// Returns the SQL database of the strategy, and the first one where it has two.
pub(crate) fn first(strategy: &Strategy) -> Option<ServiceKind> {
    all(strategy).into_iter().find(|kind| *kind != ServiceKind::SecondSql)
}

/// Returns the SQL database of the strategy under attack.
pub(crate) fn of(control: &AttackControl<'_>) -> Result<ServiceKind> {
    first(&control.attack.sale.strategy).context("the strategy has no SQL database")
}

/// Returns the phases for a fault in which the database loses data: see [`Phase::of_lock_in`].
pub(crate) fn phases(strategy: &Strategy) -> Vec<Phase> {
    first(strategy).map_or_else(Vec::new, |kind| Phase::of_lock_in(strategy, kind))
}

/// Returns what a loss of power of the database needs.
pub(crate) fn journal(strategy: &Strategy) -> Vec<Requirement> {
    first(strategy).map(Requirement::Journal).into_iter().collect()
}

/// Returns the URL of a database that was started here.
pub(crate) fn url<'a>(control: &AttackControl<'a>, kind: ServiceKind) -> Result<&'a str> {
    let parts = control.shop.parts();
    let stores = &parts.context("the shop was not started here")?.stores;
    stores.url(kind).with_context(|| format!("{kind} has no URL"))
}

/// A connection to a database of either kind.
pub(crate) enum SqlConnection {
    /// To MariaDB.
    MariaDb(MySqlConnection),
    /// To PostgreSQL.
    Postgres(PgConnection),
}

impl SqlConnection {
    /// Connects to a database of that kind.
    pub(crate) async fn open(url: &str, kind: ServiceKind) -> Result<Self> {
        if kind.program() == ServerKind::Postgres {
            return Ok(Self::Postgres(url.parse::<PgConnectOptions>()?.connect().await?));
        }
        Ok(Self::MariaDb(url.parse::<MySqlConnectOptions>()?.connect().await?))
    }

    /// Runs a statement without a result.
    pub(crate) async fn execute(&mut self, statement: &'static str) -> Result<()> {
        match self {
            Self::MariaDb(connection) => raw_sql(statement).execute(connection).await.map(drop)?,
            Self::Postgres(connection) => raw_sql(statement).execute(connection).await.map(drop)?,
        }
        Ok(())
    }

    /// Returns the number that the kernel has for the thread of the database that serves this connection.
    pub(crate) async fn thread(&mut self) -> Result<u32> {
        let number: i64 = match self {
            Self::MariaDb(connection) => {
                let thread =
                    "select cast(tid as signed) from information_schema.processlist where id = connection_id()";
                query_scalar(thread).fetch_one(connection).await?
            }
            Self::Postgres(connection) => {
                let process = "select pg_backend_pid()::bigint";
                query_scalar(process).fetch_one(connection).await?
            }
        };
        number.try_into().context("no thread has this number")
    }
}

/// Runs each of these statements on a connection of its own, outside of a transaction.
pub(crate) async fn execute(url: &str, kind: ServiceKind, statements: &[&'static str]) -> Result<()> {
    let mut connection = SqlConnection::open(url, kind).await?;
    for statement in statements {
        connection.execute(statement).await?;
    }
    Ok(())
}
