//! Waits for locks inside MariaDB and PostgreSQL, as they count them themselves, and the moment at which nobody is on the way any more.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use app::domain::Name;
use app::probe::{Step, WaitsFor};
use app::stores::Sql;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Client, cmd};
use stack::{InstanceRelays, ServiceKind, Stores};
use tokio::task::yield_now;
use tokio::time::{sleep, timeout};

use crate::instances::{Instance, Kind};
use crate::sessions::Sessions;
use crate::sql_server::SqlServer;
use crate::turns::Turns;

/// The time after which a server is asked whether a purchase waits there. Each further pause is twice as long: many questions would
/// slow down a machine on which a step takes long because it is busy.
const ASK_AFTER: Duration = Duration::from_micros(300);

/// The longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// The longest time for one step. Only a store that no longer answers takes so long.
const STEP_WITHIN: Duration = Duration::from_secs(60);

/// How often other tasks get a turn, so that a message goes from its connection by a listener to the purchase that it wakes.
const TURNS: usize = 8;

/// The servers that can let a purchase wait. Redis lets none wait: no mechanism sends it a blocking command.
///
/// A connection that a purchase has closed keeps its locks until the server notices that and rolls back. So both ends count the
/// connections, and one that only the server counts is still under way.
pub struct LockWaits {
    servers: Vec<SqlServer>,
    /// The user by which the servers know the connections of the instances.
    user: String,
    /// The connections of the instances, as they count them.
    clients: Vec<Arc<Sql>>,
    /// The closed connections of which the servers know; `None` where it has to be asked anew.
    closed: Option<u64>,
    /// The item that is for sale.
    item: String,
    /// The connections that a server keeps for a request that is late.
    kept: usize,
    /// What keeps the queue for a lock, where a lock service does.
    queue: Sessions,
    /// The Redis that publishes the messages which wake purchases.
    publisher: MultiplexedConnection,
    /// The relays that pass these messages on.
    relays: Vec<Arc<InstanceRelays>>,
}

/// The connections of all servers at one moment.
struct Counted {
    /// The connections that wait for a lock.
    waiting: usize,
    /// The connections that the instances have closed, and the servers not yet.
    left: usize,
}

impl LockWaits {
    /// Connects to every database that strategies of this kind need. These instances use the databases under that user's name, which no
    /// other program uses.
    ///
    /// # Errors
    /// When one cannot be reached.
    pub async fn connect(stores: &Stores, kind: &Kind, user: &str, instances: &[Instance]) -> Result<Self> {
        let (mut clients, mut relays) = (Vec::new(), Vec::new());
        for instance in instances {
            clients.extend(instance.sql().await?);
            relays.extend(instance.relays.clone());
        }
        let mut servers = vec![SqlServer::mariadb(stores.sql_url()).await?];
        for (service, urls) in kind.needed(stores) {
            for url in urls {
                match service {
                    ServiceKind::SecondSql => servers.push(SqlServer::mariadb(url).await?),
                    ServiceKind::Pg => servers.push(SqlServer::postgres(url).await?),
                    _ => {}
                }
            }
        }
        let publisher = Client::open(stores.redis_url()).context("the URL of Redis")?;
        let patient = AsyncConnectionConfig::new().set_response_timeout(Some(STEP_WITHIN));
        let publisher = publisher.get_multiplexed_async_connection_with_config(&patient).await;
        Ok(Self {
            servers,
            user: user.to_owned(),
            clients,
            closed: Some(0),
            item: String::new(),
            kept: 0,
            queue: Sessions::connect(kind.sessions, stores).await?,
            publisher: publisher.context("Redis, which publishes messages")?,
            relays,
        })
    }

    /// Waits until every purchase stands before a step, has its outcome, or waits for another one, and the servers know of every
    /// connection that is closed, or let it wait as well.
    ///
    /// # Errors
    /// When a server does not answer, or a step takes longer than a minute.
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

    /// Waits until the servers have noticed that purchases are gone, those that waited as well.
    ///
    /// # Errors
    /// When a server does not answer, or they wait for longer than a minute.
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

    /// Notes that such a request is on its way to a server, or that its connection is closed: the server has to end it now.
    pub fn let_go(&mut self) {
        self.kept -= 1;
        self.closed = None;
    }

    /// Returns whether each of these steps waits for another purchase, inside its process or in a server, and each closed
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
        if inside > 0 {
            self.hand_over_messages().await?;
        }
        // Only that of a lock service may take longer. The first one in a queue waits for nobody.
        if inside > 0
            && let Some(places) = self.queue.places(&self.item).await?
            && inside >= places
        {
            return Ok(false);
        }
        Ok(waiting >= sent + left)
    }

    /// Lets every message that Redis has published reach the purchase that it wakes.
    ///
    /// On a busy machine Redis may have answered the publisher, and not yet written to the subscriber, and a relay between them may
    /// get no time. Redis answers the next command after both.
    async fn hand_over_messages(&mut self) -> Result<()> {
        let answered = cmd("PING").exec_async(&mut self.publisher).await;
        answered.context("Redis, which publishes messages")?;
        for relay in self.relays.iter().flat_map(|relays| relays.all()) {
            relay.hand_over().await;
        }
        for _ in 0..TURNS {
            yield_now().await;
        }
        Ok(())
    }

    /// Counts the connections at both ends, and after that the waits: one that has ended meanwhile counts as a connection, and a
    /// step that is under way is not taken for one that waits.
    async fn count(&mut self) -> Result<Counted> {
        let (opened, closed) = self.clients_count();
        let (mut waiting, mut listed) = (0, 0_u64);
        for server in &mut self.servers {
            let (wait, all) = server.waiting_and_all(&self.item, &self.user).await?;
            waiting += wait;
            listed += all;
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
