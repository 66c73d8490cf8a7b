//! Waits for locks inside MariaDB, as it counts them itself, and the moment at which nobody is on the way any more.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use app::domain::Name;
use app::probe::{Step, WaitsFor};
use app::stores::Sql;
use sqlx::{Connection, MySqlConnection, Row, query, query_scalar};
use stack::{ServiceKind, Stores};
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use crate::instances::Kind;
use crate::sessions::Sessions;
use crate::turns::Turns;

/// The time after which MariaDB is asked whether a purchase waits there. Each further pause is twice as long: many questions would
/// slow down a machine on which a step takes long because it is busy.
const ASK_AFTER: Duration = Duration::from_micros(300);

/// The longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// The longest time for one step. Only a store that no longer answers takes so long.
const STEP_WITHIN: Duration = Duration::from_secs(60);

/// Lists the transactions as they are now. The tables of the information schema may be 100 ms old, and the counter of waits
/// falls only when the thread that waited runs again, which is later than its lock was granted.
const TRANSACTIONS: &str = "show engine innodb status";

/// The begin of their list. The latest deadlock stands before it, with transactions that no longer wait.
const LIST: &str = "\nLIST OF TRANSACTIONS ";

/// The begin of the line of a transaction that waits for the lock of a row.
const WAITS: &str = "\nLOCK WAIT ";

/// Lists the connections. The table of the information schema has the same, but MariaDB writes that to a file for each query.
const CONNECTIONS: &str = "show processlist";

/// The state of a connection that waits for a named lock, and of one that has just got it.
const NAMED_LOCK: &str = "User lock";

/// The command of a connection that carries out none.
const IDLE: &str = "Sleep";

/// Returns the connection that holds the named lock of an item.
const HOLDER: &str = "select is_used_lock(?)";

/// The servers that can let a purchase wait. Redis lets none wait: no mechanism sends it a blocking command.
///
/// A connection that a purchase has closed keeps its locks until MariaDB notices that and rolls back. So both ends count the
/// connections, and one that only MariaDB counts is still under way.
pub struct LockWaits {
    servers: Vec<MySqlConnection>,
    /// The user by which MariaDB knows the connections of the instances.
    user: String,
    /// The connections of the instances, as they count them.
    clients: Vec<Arc<Sql>>,
    /// The closed connections of which MariaDB knows; `None` where it has to be asked anew.
    closed: Option<u64>,
    /// The item that is for sale.
    item: String,
    /// The connections that MariaDB keeps for a request that is late.
    kept: usize,
    /// What keeps the queue for a lock, where a lock service does.
    queue: Sessions,
}

/// The connections of MariaDB at one moment.
struct Counted {
    /// The connections that wait for a lock.
    waiting: usize,
    /// The connections that the instances have closed, and MariaDB not yet.
    left: usize,
}

impl LockWaits {
    /// Connects to every MariaDB that strategies of this kind need. The instances use these connections under that user's name, which no other program uses.
    ///
    /// # Errors
    /// When one cannot be reached.
    pub async fn connect(stores: &Stores, kind: &Kind, user: &str, clients: Vec<Arc<Sql>>) -> Result<Self> {
        let further = kind.needed(stores).filter(|(kind, _)| *kind == ServiceKind::SecondSql);
        let further = further.flat_map(|(_, urls)| urls).map(String::as_str);
        let mut servers = Vec::new();
        for url in [stores.sql_url()].into_iter().chain(further) {
            let connected = MySqlConnection::connect(url).await;
            servers.push(connected.context("MariaDB, which knows which purchases wait")?);
        }
        Ok(Self {
            servers,
            user: user.to_owned(),
            clients,
            closed: Some(0),
            item: String::new(),
            kept: 0,
            queue: Sessions::connect(kind.sessions, stores).await?,
        })
    }

    /// Waits until every purchase stands before a step, has its outcome, or waits for another one, and MariaDB knows of every
    /// connection that is closed, or lets it wait as well.
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
            let mut pause = ASK_AFTER;
            loop {
                let version = turns.version();
                let under_way = turns.under_way();
                let is_over = under_way.is_empty() && Some(self.clients_count().1) == self.closed;
                if is_enough() {
                    return Ok(());
                }
                if is_over {
                    // A worker that the last step has woken sleeps until its task has a turn.
                    yield_now().await;
                    if turns.version() == version {
                        return Ok(());
                    }
                    continue;
                }
                if timeout(pause, turns.changed_since(version)).await.is_ok() {
                    pause = ASK_AFTER;
                    continue;
                }
                pause = LONGEST_PAUSE.min(2 * pause);
                if self.all_wait(&under_way).await? && turns.version() == version {
                    return Ok(());
                }
            }
        };
        let settled = timeout(STEP_WITHIN, settled).await;
        settled.with_context(|| format!("a step took longer than a minute, {}", turns.in_words()))?
    }

    /// Waits until MariaDB has noticed that purchases are gone, those that waited as well.
    ///
    /// # Errors
    /// When MariaDB does not answer, or they wait for longer than a minute.
    pub async fn none_left(&mut self) -> Result<()> {
        let left = async {
            let mut pause = ASK_AFTER;
            loop {
                let Counted { waiting, left } = self.count().await?;
                if waiting + left == 0 {
                    return Ok(());
                }
                sleep(pause).await;
                pause = LONGEST_PAUSE.min(2 * pause);
            }
        };
        let left = timeout(STEP_WITHIN, left).await;
        left.context("purchases of an earlier schedule still wait after a minute")?
    }

    /// Notes that this item is for sale from now on.
    pub fn open(&mut self, item: &Name) {
        self.item = item.to_string();
    }

    /// Notes that a relay keeps a connection for a request that is late. It counts as no closed one.
    pub fn keep(&mut self) {
        self.kept += 1;
    }

    /// Notes that such a request is on its way to MariaDB, or that its connection is closed: MariaDB has to end it now.
    pub fn let_go(&mut self) {
        self.kept -= 1;
        self.closed = None;
    }

    /// Returns whether each of these steps waits for another purchase, inside its process or in MariaDB, and each closed
    /// connection as well.
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
        let Counted { waiting, left } = self.count().await?;
        // A message that wakes a purchase is there by now: give its task a turn.
        sleep(Duration::ZERO).await;
        // Only that of a lock service may take longer. The first one in a queue waits for nobody.
        if inside > 0
            && let Some(places) = self.queue.places(&self.item).await?
            && inside >= places
        {
            return Ok(false);
        }
        Ok(waiting >= sent + left)
    }

    /// Counts the connections at both ends, and after that the waits: one that has ended meanwhile counts as a connection, and a
    /// step that is under way is not taken for one that waits.
    async fn count(&mut self) -> Result<Counted> {
        let (opened, closed) = self.clients_count();
        let (mut waiting, mut listed) = (0, 0_u64);
        for server in &mut self.servers {
            let (mut at_named_lock, mut is_one_at_work) = (Vec::new(), false);
            for connection in query(CONNECTIONS).fetch_all(&mut *server).await.context("MariaDB")? {
                if connection.try_get::<&str, _>("User")? != self.user {
                    continue;
                }
                listed += 1;
                is_one_at_work |= connection.try_get::<&str, _>("Command")? != IDLE;
                if connection.try_get::<Option<&str>, _>("State")? == Some(NAMED_LOCK) {
                    at_named_lock.push(connection.try_get::<i64, _>("Id")?);
                }
            }
            // Only a statement waits, and the list of transactions is long.
            if is_one_at_work {
                let status = query(TRANSACTIONS).fetch_one(&mut *server).await.context("MariaDB")?;
                let status: String = status.try_get("Status")?;
                let (_, list) = status.split_once(LIST).context("MariaDB lists no transactions")?;
                waiting += list.matches(WAITS).count();
            }
            if !at_named_lock.is_empty() {
                let holder = query_scalar(HOLDER).bind(&self.item).fetch_one(server).await;
                let holder: Option<i64> = holder.context("MariaDB")?;
                waiting += at_named_lock
                    .iter()
                    .filter(|id| holder.is_some_and(|holder| holder != **id))
                    .count();
            }
        }
        let left = listed.saturating_sub(opened - closed + self.kept as u64);
        if left == 0 {
            self.closed = Some(closed);
        }
        Ok(Counted {
            waiting,
            left: usize::try_from(left)?,
        })
    }

    /// Returns the connections that the instances opened and closed so far.
    fn clients_count(&self) -> (u64, u64) {
        let counts = self.clients.iter().map(|sql| sql.opened_and_closed());
        counts.fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1))
    }
}
