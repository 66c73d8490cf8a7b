//! Waits for locks inside a store, as the store itself counts them, and the moment at which nobody is on the way any more.

use std::time::Duration;

use anyhow::{Context, Result};
use app::probe::{Step, WaitsFor};
use sqlx::{Connection, MySqlConnection, Row, query, query_scalar};
use stack::{ServiceKind, Stores};
use tokio::time::{sleep, timeout};

use crate::turns::Turns;

/// The pause between two questions to a store whether a purchase waits there.
const ASK_EVERY: Duration = Duration::from_micros(300);

/// The longest time for one step. Only a store that no longer answers takes so long.
const STEP_WITHIN: Duration = Duration::from_secs(60);

/// Lists the transactions as they are now. The tables of the information schema may be 100 ms old, and the counter of waits
/// falls only when the thread that waited runs again, which is later than its lock was granted.
const TRANSACTIONS: &str = "show engine innodb status";

/// The begin of their list. The latest deadlock stands before it, with transactions that no longer wait.
const LIST: &str = "\nLIST OF TRANSACTIONS ";

/// The begin of the line of a transaction that waits for the lock of a row.
const WAITS: &str = "\nLOCK WAIT ";

/// Counts the connections that wait for a named lock.
const NAMED: &str = "select count(*) from information_schema.processlist where state = 'User lock'";

/// The servers that can let a purchase wait. Redis lets none wait: no mechanism sends it a blocking command.
pub struct LockWaits(Vec<MySqlConnection>);

impl LockWaits {
    /// Connects to every MariaDB.
    ///
    /// # Errors
    /// When one cannot be reached.
    pub async fn connect(stores: &Stores) -> Result<Self> {
        let further = stores.services().filter(|(kind, _)| *kind == ServiceKind::SecondSql);
        let further = further.flat_map(|(_, urls)| urls).map(String::as_str);
        let mut servers = Vec::new();
        for url in [stores.sql_url()].into_iter().chain(further) {
            let connected = MySqlConnection::connect(url).await;
            servers.push(connected.context("MariaDB, which knows which purchases wait")?);
        }
        Ok(Self(servers))
    }

    /// Waits until every purchase stands before a step, has its outcome, or waits for another one.
    ///
    /// # Errors
    /// When MariaDB does not answer, or a step takes longer than a minute.
    pub async fn settle(&mut self, turns: &Turns) -> Result<()> {
        self.settle_unless(turns, || false).await
    }

    /// The same, but no longer than until `is_enough`.
    ///
    /// # Errors
    /// As of [`LockWaits::settle`].
    pub async fn settle_unless(&mut self, turns: &Turns, is_enough: impl Fn() -> bool) -> Result<()> {
        let settled = async {
            loop {
                let version = turns.version();
                let under_way = turns.under_way();
                if under_way.is_empty() || is_enough() {
                    return Ok(());
                }
                if timeout(ASK_EVERY, turns.changed_since(version)).await.is_ok() {
                    continue;
                }
                if self.all_wait(&under_way).await? && turns.version() == version {
                    return Ok(());
                }
            }
        };
        let settled = timeout(STEP_WITHIN, settled).await;
        settled.context("a step took longer than a minute")?
    }

    /// Waits until MariaDB has noticed that purchases which waited are gone.
    ///
    /// # Errors
    /// When MariaDB does not answer, or they wait for longer than a minute.
    pub async fn none_left(&mut self) -> Result<()> {
        let left = async {
            while self.count().await? > 0 {
                sleep(ASK_EVERY).await;
            }
            Ok(())
        };
        let left = timeout(STEP_WITHIN, left).await;
        left.context("purchases of an earlier schedule still wait after a minute")?
    }

    /// Returns whether each of these steps waits for another purchase, inside its process or in MariaDB.
    async fn all_wait(&mut self, under_way: &[Option<Step>]) -> Result<bool> {
        let inside = |step: &&Option<Step>| step.is_some_and(|step| step.waits_for == Some(WaitsFor::Actor));
        let sent = |step: &&Option<Step>| step.is_some_and(|step| !step.sends.is_empty());
        let (inside, sent) = (
            under_way.iter().filter(inside).count(),
            under_way.iter().filter(sent).count(),
        );
        if inside + sent < under_way.len() {
            return Ok(false);
        }
        let waits = self.count().await?;
        // A message that wakes a purchase is there by now: give its task a turn.
        sleep(Duration::ZERO).await;
        Ok(waits >= sent)
    }

    /// Returns the number of connections that wait for a lock.
    async fn count(&mut self) -> Result<usize> {
        let mut waits = 0;
        for server in &mut self.0 {
            let status = query(TRANSACTIONS).fetch_one(&mut *server).await.context("MariaDB")?;
            let status: String = status.try_get("Status")?;
            let (_, list) = status.split_once(LIST).context("MariaDB lists no transactions")?;
            let named: i64 = query_scalar(NAMED).fetch_one(server).await.context("MariaDB")?;
            waits += list.matches(WAITS).count() + usize::try_from(named).unwrap_or_default();
        }
        Ok(waits)
    }
}
