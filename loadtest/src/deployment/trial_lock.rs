//! A lock that one load test of a remote shop holds at a time: two would break the shop under each other.
//!
//! It is a named lock of MariaDB. Such a lock ends with its connection, so a load test that is killed leaves none behind, and a user
//! who may only read can take it. A shop without MariaDB has no such lock.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use sqlx::ConnectOptions;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::facts::{READ_WITHIN, Urls};

/// MariaDB ends the connection of a machine that has vanished after this time.
const FORGET: &str = "set session wait_timeout = 30";

/// One lock for each database, since locks belong to the whole server. Waits for a load test that is just ending.
const TAKE: &str = "select get_lock(concat('oversell load test ', md5(ifnull(database(), ''))), 2)";

/// The pause between two looks for the connection. A restart of MariaDB ends it.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The lock, until it is dropped.
pub struct TrialLock {
    _holding: JoinSet<()>,
}

impl TrialLock {
    /// Takes the lock of the shop with these stores. Takes it again by itself after a restart of MariaDB.
    ///
    /// # Errors
    /// When another load test has it, or MariaDB does not answer.
    pub async fn take(urls: &Urls) -> Result<Self> {
        let mut holding = JoinSet::new();
        if let Some(url) = urls.get("sql") {
            let options: MySqlConnectOptions = url.parse()?;
            let taken = timeout(READ_WITHIN, locked(&options)).await;
            let taken = taken.context("no answer").flatten();
            let taken = taken.context("the lock against a second load test cannot be taken in MariaDB")?;
            ensure!(
                taken.is_some(),
                "another load test is at this shop: begin when it is over"
            );
            holding.spawn(hold(options, taken));
        }
        Ok(Self { _holding: holding })
    }
}

/// Returns a connection that has the lock; `None` when another one has it.
async fn locked(options: &MySqlConnectOptions) -> Result<Option<MySqlConnection>> {
    let mut connection = options.connect().await?;
    sqlx::raw_sql(FORGET).execute(&mut connection).await?;
    let taken: Option<i64> = sqlx::query_scalar(TAKE).fetch_one(&mut connection).await?;
    Ok((taken == Some(1)).then_some(connection))
}

async fn hold(options: MySqlConnectOptions, mut connection: Option<MySqlConnection>) {
    loop {
        sleep(LOOK_EVERY).await;
        let is_there = match &mut connection {
            Some(connection) => {
                let answer = timeout(READ_WITHIN, sqlx::raw_sql("do 0").execute(connection)).await;
                answer.is_ok_and(|answer| answer.is_ok())
            }
            None => false,
        };
        if !is_there {
            connection = timeout(READ_WITHIN, locked(&options))
                .await
                .ok()
                .and_then(|taken| taken.ok().flatten());
        }
    }
}
