//! The databases, their levels, and sessions whose statements may wait for a lock.

use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use sqlx::mysql::{MySqlConnectOptions, MySqlRow};
use sqlx::postgres::{PgConnectOptions, PgRow};
use sqlx::{ConnectOptions, MySqlConnection, PgConnection, Row as _, query, query_scalar, raw_sql};
use stack::{ServiceKind, Stores};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

use super::script::{Row, Said};

/// A level of one database.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// The database.
    pub of: ServiceKind,
    /// Its name, as the results give it.
    pub name: &'static str,
    /// The statement that a session begins with.
    pub sets: &'static str,
}

/// Every level. That of MariaDB's transactions is REPEATABLE READ unless they ask for another one, that of PostgreSQL's READ
/// COMMITTED.
pub const LEVELS: &[Level] = &[
    mariadb(
        "read uncommitted",
        "set session transaction isolation level read uncommitted",
    ),
    mariadb(
        "read committed",
        "set session transaction isolation level read committed",
    ),
    mariadb(
        "repeatable read, innodb_snapshot_isolation off",
        "set session transaction isolation level repeatable read; set session innodb_snapshot_isolation = 0",
    ),
    mariadb(
        "repeatable read, innodb_snapshot_isolation on",
        "set session transaction isolation level repeatable read; set session innodb_snapshot_isolation = 1",
    ),
    mariadb("serializable", "set session transaction isolation level serializable"),
    postgres(
        "read uncommitted",
        "set default_transaction_isolation = 'read uncommitted'",
    ),
    postgres("read committed", "set default_transaction_isolation = 'read committed'"),
    postgres(
        "repeatable read",
        "set default_transaction_isolation = 'repeatable read'",
    ),
    postgres("serializable", "set default_transaction_isolation = 'serializable'"),
];

const fn mariadb(name: &'static str, sets: &'static str) -> Level {
    Level {
        of: ServiceKind::Sql,
        name,
        sets,
    }
}

const fn postgres(name: &'static str, sets: &'static str) -> Level {
    Level {
        of: ServiceKind::Pg,
        name,
        sets,
    }
}

/// The two rows that each script begins with.
const FRESH: [&str; 3] = [
    "drop table if exists shelf",
    "create table shelf (id bigint primary key, units bigint not null)",
    "insert into shelf values (1, 10), (2, 20)",
];

/// One database at one level.
pub(super) struct Database {
    level: Level,
    url: String,
    /// For the questions which session waits.
    operator: Mutex<Option<Client>>,
}

impl Database {
    pub(super) fn at(level: &Level, stores: &Stores) -> Result<Self> {
        let url = stores.url(level.of);
        Ok(Self {
            level: *level,
            url: url.with_context(|| format!("{} was not started", level.of))?.to_owned(),
            operator: Mutex::new(None),
        })
    }

    /// Returns the name and version of the server.
    pub(super) async fn version(&self) -> Result<String> {
        let version = match self.connect().await? {
            Client::MariaDb(mut sql) => {
                query_scalar::<_, String>("select version()")
                    .fetch_one(&mut sql)
                    .await?
            }
            Client::Postgres(mut pg) => {
                query_scalar::<_, String>("show server_version")
                    .fetch_one(&mut pg)
                    .await?
            }
        };
        let number = version.split(['-', ' ']).next().unwrap_or_default();
        Ok(format!("{} {number}", self.level.of))
    }

    /// Makes the table anew, and returns a session of its own, outside any transaction.
    pub(super) async fn fresh(&self) -> Result<Client> {
        let mut client = self.connect().await?;
        for statement in FRESH {
            client.run(statement).await?;
        }
        Ok(client)
    }

    /// Returns a session whose transaction has begun.
    pub(super) async fn begun(&self) -> Result<Session> {
        let mut client = self.connect().await?;
        for statement in self.level.sets.split("; ") {
            client.run(statement).await?;
        }
        let id = client.id().await?;
        client.run("begin").await?;
        Ok(Session {
            id,
            client: Arc::new(Mutex::new(client)),
            asked: None,
            is_over: false,
        })
    }

    /// Whether the statement of that session waits for a lock, as the database itself says.
    pub(super) async fn lets_wait(&self, session: &Session) -> Result<bool> {
        let mut operator = self.operator.lock().await;
        if operator.is_none() {
            *operator = Some(self.connect().await?);
        }
        let operator = operator.as_mut().context("it was connected above")?;
        operator.lets_wait(session.id).await
    }

    async fn connect(&self) -> Result<Client> {
        Ok(match self.level.of {
            ServiceKind::Pg => Client::Postgres(self.url.parse::<PgConnectOptions>()?.connect().await?),
            _ => Client::MariaDb(self.url.parse::<MySqlConnectOptions>()?.connect().await?),
        })
    }
}

/// A connection.
pub(super) enum Client {
    MariaDb(MySqlConnection),
    Postgres(PgConnection),
}

impl Client {
    async fn run(&mut self, statement: &'static str) -> sqlx::Result<Vec<Row>> {
        let is_query = statement.starts_with("select");
        match self {
            Self::MariaDb(sql) if is_query => {
                let rows = query(statement).fetch_all(sql).await?;
                rows.iter()
                    .map(|row: &MySqlRow| Ok((row.try_get(0)?, row.try_get(1)?)))
                    .collect()
            }
            Self::Postgres(pg) if is_query => {
                let rows = query(statement).fetch_all(pg).await?;
                rows.iter()
                    .map(|row: &PgRow| Ok((row.try_get(0)?, row.try_get(1)?)))
                    .collect()
            }
            Self::MariaDb(sql) => raw_sql(statement).execute(sql).await.map(|_| Vec::new()),
            Self::Postgres(pg) => raw_sql(statement).execute(pg).await.map(|_| Vec::new()),
        }
    }

    /// Returns all rows, by id.
    pub(super) async fn read_all(&mut self) -> Result<Vec<Row>> {
        Ok(self.run("select id, units from shelf order by id").await?)
    }

    /// Returns the number by which the server knows the connection.
    async fn id(&mut self) -> Result<i64> {
        Ok(match self {
            Self::MariaDb(sql) => {
                query_scalar("select cast(connection_id() as signed)")
                    .fetch_one(sql)
                    .await?
            }
            Self::Postgres(pg) => query_scalar("select pg_backend_pid()::bigint").fetch_one(pg).await?,
        })
    }

    async fn lets_wait(&mut self, id: i64) -> Result<bool> {
        match self {
            // The tables of the information schema may be 100 ms old.
            Self::MariaDb(sql) => {
                let status = query("show engine innodb status").fetch_one(sql).await?;
                let status: String = status.try_get("Status")?;
                let (_, list) = status
                    .split_once("LIST OF TRANSACTIONS")
                    .context("MariaDB lists no transactions")?;
                let thread = format!("MariaDB thread id {id},");
                let mut transactions = list.split("---TRANSACTION ");
                Ok(transactions.any(|one| one.contains("\nLOCK WAIT ") && one.contains(&thread)))
            }
            Self::Postgres(pg) => {
                let waits = "select coalesce(max(case when wait_event_type = 'Lock' then 1 else 0 end), 0)::bigint \
                             from pg_stat_activity where pid = $1";
                let waits: i64 = query_scalar(waits).bind(i32::try_from(id)?).fetch_one(pg).await?;
                Ok(waits == 1)
            }
        }
    }
}

/// A session: its transaction, and the statement that has no answer yet.
pub(super) struct Session {
    id: i64,
    client: Arc<Mutex<Client>>,
    asked: Option<(usize, JoinHandle<sqlx::Result<Vec<Row>>>)>,
    /// Whether the database has refused a statement, and with it the transaction.
    is_over: bool,
}

impl Session {
    /// Whether it has no answer yet.
    pub(super) fn is_waiting(&self) -> bool {
        self.asked.is_some()
    }

    /// Sends the statement of that place of the script. After a refusal it only rolls back.
    pub(super) fn ask(&mut self, place: usize, statement: &'static str) {
        let statement = if self.is_over { "rollback" } else { statement };
        let client = self.client.clone();
        let asked = tokio::spawn(async move { client.lock().await.run(statement).await });
        self.asked = Some((place, asked));
    }

    /// Takes the answer, if it is there.
    pub(super) async fn answered(&mut self) -> Result<Option<(usize, Said)>> {
        let Some((place, asked)) = self.asked.take_if(|(_, asked)| asked.is_finished()) else {
            return Ok(None);
        };
        let answer = match asked.await? {
            Ok(rows) if !self.is_over => Said::Rows(rows),
            Ok(_) => Said::Refused,
            Err(error) => {
                ensure!(
                    error.as_database_error().is_some(),
                    "the database does not answer: {error}"
                );
                self.is_over = true;
                Said::Refused
            }
        };
        Ok(Some((place, answer)))
    }
}
