//! MariaDB, MySQL, PostgreSQL and SQLite.

use anyhow::{Context, Result, ensure};
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Executor, Row};

use super::{MOST_ROWS, Rows};

/// The kinds of servers.
#[derive(Clone, Copy)]
pub enum Kind {
    MySql,
    Postgres,
    Sqlite,
}

/// A session that only reads. A server may show what is not committed to a session that does not choose its level.
const MYSQL_READS: [&str; 2] = [
    "set session transaction isolation level read committed",
    "set session transaction read only",
];
const POSTGRES_READS: [&str; 1] = ["set session characteristics as transaction read only"];

/// Returns every value of the rows as a text: so do all three servers send them in answer to a statement without parameters.
macro_rules! rows {
    ($connection:expr, $statement:expr) => {{
        use futures_util::TryStreamExt;
        let mut found = sqlx::raw_sql(AssertSqlSafe($statement)).fetch($connection);
        let mut rows = Rows::new();
        while let Some(row) = found.try_next().await.map_err(said)? {
            ensure!(rows.len() < MOST_ROWS, "the statement has more than {MOST_ROWS} rows");
            let values = (0..row.len()).map(|at| row.try_get_unchecked::<Option<String>, _>(at));
            rows.push(values.collect::<Result<_, _>>()?);
        }
        rows
    }};
}

/// Reads.
pub async fn read(kind: Kind, url: &str, statement: &str) -> Result<Rows> {
    let statement = single(statement)?.to_owned();
    Ok(match kind {
        Kind::MySql => {
            let mut connection = mysql(url).await?;
            for setting in MYSQL_READS {
                connection.execute(setting).await?;
            }
            rows!(&mut connection, statement)
        }
        Kind::Postgres => {
            let mut connection = postgres(url).await?;
            for setting in POSTGRES_READS {
                connection.execute(setting).await?;
            }
            rows!(&mut connection, statement)
        }
        Kind::Sqlite => {
            let mut connection = sqlite(url, true).await?;
            rows!(&mut connection, statement)
        }
    })
}

/// Changes.
pub async fn write(kind: Kind, url: &str, statement: &str) -> Result<()> {
    let statement = AssertSqlSafe(statement.to_owned());
    match kind {
        Kind::MySql => {
            let mut connection = mysql(url).await?;
            sqlx::raw_sql(statement).execute(&mut connection).await.map_err(said)?;
            connection.close().await?;
        }
        Kind::Postgres => {
            let mut connection = postgres(url).await?;
            sqlx::raw_sql(statement).execute(&mut connection).await.map_err(said)?;
            connection.close().await?;
        }
        Kind::Sqlite => {
            let mut connection = sqlite(url, false).await?;
            sqlx::raw_sql(statement).execute(&mut connection).await.map_err(said)?;
            connection.close().await?;
        }
    }
    Ok(())
}

/// Returns the one statement of a text. A second one could end the transaction that only reads.
fn single(text: &str) -> Result<&str> {
    let statement = text.trim().trim_end_matches(';');
    ensure!(
        !statement.contains(';'),
        "only one statement is read, without `;` in it"
    );
    Ok(statement)
}

async fn mysql(url: &str) -> Result<MySqlConnection> {
    let options: MySqlConnectOptions = url.parse().context("the URL of the store")?;
    options.connect().await.map_err(said).context("it cannot be reached")
}

async fn postgres(url: &str) -> Result<PgConnection> {
    let options: PgConnectOptions = url.parse().context("the URL of the store")?;
    options.connect().await.map_err(said).context("it cannot be reached")
}

async fn sqlite(url: &str, is_read_only: bool) -> Result<SqliteConnection> {
    let options: SqliteConnectOptions = url.parse().context("the URL of the store")?;
    let connected = options.read_only(is_read_only).connect().await;
    connected.map_err(said).context("it cannot be opened")
}

/// Returns what the server itself says.
fn said(error: sqlx::Error) -> anyhow::Error {
    match error {
        sqlx::Error::Database(said) => anyhow::anyhow!("{}", said.message()),
        other => other.into(),
    }
}
