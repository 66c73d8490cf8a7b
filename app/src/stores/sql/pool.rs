//! The pool of connections: how it makes and tests them.

use std::io;
use std::ops::{Deref, DerefMut};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use deadpool::Runtime;
use deadpool::managed::{self, Metrics, Object, Pool, RecycleError, RecycleResult};
use sqlx::mysql::MySqlConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, MySqlConnection, raw_sql};
use tokio::time::timeout;

use super::super::{ANSWER_WITHIN, CONNECT_WITHIN, Origin, POOL_SIZE, UNTESTED_FOR};
use super::error::{UNKNOWN_VARIABLE, number};
use super::link::Link;
use crate::domain::Error;

pub(super) type Connections = Pool<Manager>;

/// A link that was lent. One that must not be lent again is closed when dropped: in the pool it would keep its locks
/// until its next use.
pub(super) struct Lent(Option<Object<Manager>>);

impl Lent {
    pub(super) fn new(lent: Object<Manager>) -> Self {
        Self(Some(lent))
    }
}

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

/// Opens a pool. On its connections a wait for a row ends after `wait`, and any statement ends some time later.
pub(super) fn open(url: &str, wait: Duration) -> Result<Connections, Error> {
    let manager = Manager {
        // A paused holder keeps others waiting: a line for each of their statements would hide the rest of the log. Steps are logged
        // by the probe.
        options: MySqlConnectOptions::from_str(url)?.disable_statement_logging(),
        // InnoDB takes whole seconds only.
        row_wait: Duration::from_secs_f64(wait.as_secs_f64().ceil().max(1.0)),
        // A longer wait also allows more time to connect, so that a slow server does not make a patient buyer busy.
        connect_within: (wait / 8).clamp(CONNECT_WITHIN, ANSWER_WITHIN),
        snapshot_isolation: false,
        lost: Arc::default(),
        tally: Arc::default(),
    };
    pool(manager, wait)
}

/// Opens a pool like `other`, with `innodb_snapshot_isolation` on or off. Both count their connections together.
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

#[derive(Clone)]
pub(super) struct Manager {
    options: MySqlConnectOptions,
    row_wait: Duration,
    connect_within: Duration,
    snapshot_isolation: bool,
    pub(super) lost: Arc<AtomicU64>,
    pub(super) tally: Arc<Tally>,
}

/// The connections that were opened and closed so far.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) opened: AtomicU64,
    pub(super) closed: AtomicU64,
}

impl Manager {
    /// Sets `innodb_snapshot_isolation`. It is off by default in MariaDB 10.11, and on from 11.6. When it is on, a
    /// REPEATABLE READ transaction may not update a row that has changed since the transaction began to read: error
    /// 1020. A server without this setting behaves as if it were off.
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
        // MariaDB ends a statement before the client gives up on it, but not before a wait for a row has ended.
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
        let connected: sqlx::Result<_> = timeout(self.connect_within, connecting)
            .await
            .unwrap_or_else(|_| Err(io::Error::from(io::ErrorKind::TimedOut).into()));
        Ok(Link::new(connected?, statement + CONNECT_WITHIN, self))
    }

    async fn recycle(&self, link: &mut Link, metrics: &Metrics) -> RecycleResult<Error> {
        if !link.is_clean() {
            return Err(RecycleError::message("it failed, or its transaction is open"));
        }
        link.origin = Origin::Kept;
        if link.others_were_lost() || metrics.last_used() > UNTESTED_FOR {
            link.origin = Origin::Tested;
            timeout(CONNECT_WITHIN, link.ping())
                .await
                .map_err(|_| RecycleError::message("it did not answer"))??;
        }
        Ok(())
    }
}
