//! The locks of one process.

use std::sync::Arc;
use std::time::Duration;

use redis::aio::ConnectionLike;
use redis::cluster::ClusterClient;
use redis::{Client, RedisResult};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use crate::error::Error;
use crate::held::Held;
use crate::hook::Hook;
use crate::local_queue::LocalQueues;
use crate::scripts::{Scripts, keys};
use crate::settings::Settings;
use crate::shard_channels::{self, ShardChannels};
use crate::shared::Shared;
use crate::ticket::Ticket;
use crate::wire::Wire;
use crate::{listener, renewal};

/// All locks of one process in one Redis, or in one Redis Cluster. It has two connections, one of them for messages, and
/// one timer. Dropping it ends the renewal of held locks.
pub struct Baton {
    shared: Arc<Shared>,
    local: Arc<LocalQueues>,
    _listener: AbortOnDropHandle<()>,
    _renewal: AbortOnDropHandle<()>,
}

impl Baton {
    /// Connects to Redis and subscribes to handoffs.
    ///
    /// # Errors
    /// When a setting is out of bounds, or Redis is not reachable.
    pub async fn connect(client: Client, settings: Settings) -> Result<Self, Error> {
        settings.check()?;
        let wire = Wire::connect(client.clone(), settings.answer_within).await?;
        let shared = Shared::new(settings, wire, Scripts::for_one_server(), None);
        let subscription = listener::subscribe(&client, &shared).await?;
        let listening = listener::listen(client, shared.clone(), subscription);
        Ok(Self::start(shared, listening))
    }

    /// Connects to a Redis Cluster, version 7.0 or later: each lock lies on the node of its name, and its handoffs come on a
    /// channel there, to which this process subscribes when it waits. `open` opens a connection for scripts, at first and
    /// after one did not answer: [`ClusterClient::get_pending_async_connection_with_config`], for example. `messages` leads
    /// to the same nodes and speaks RESP3. A connection that sends a script again whose answer was lost may let a release
    /// say [`Released::TooLate`](crate::Released::TooLate) that came in time.
    ///
    /// # Errors
    /// When a setting is out of bounds, or the cluster is not reachable.
    pub async fn connect_cluster<C: ConnectionLike + Clone + Send + Sync + 'static>(
        open: impl Fn() -> RedisResult<C> + Send + Sync + 'static,
        messages: &ClusterClient,
        settings: Settings,
    ) -> Result<Self, Error> {
        settings.check()?;
        let wire = Wire::over(open()?, open, settings.answer_within);
        let (shards, pushes) = ShardChannels::connect(messages).await?;
        let shared = Shared::new(settings, wire, Scripts::for_a_cluster(), Some(shards));
        let listening = shard_channels::listen(shared.clone(), pushes);
        Ok(Self::start(shared, listening))
    }

    fn start(shared: Arc<Shared>, listening: impl Future<Output = ()> + Send + 'static) -> Self {
        Self {
            local: Arc::default(),
            _listener: AbortOnDropHandle::new(tokio::spawn(listening)),
            _renewal: AbortOnDropHandle::new(tokio::spawn(renewal::renew(shared.clone()))),
            shared,
        }
    }

    /// Waits for the lock `name` without a limit. A dropped future leaves the queue, or releases the lock that it just
    /// got.
    ///
    /// # Errors
    /// When Redis does not answer.
    pub async fn lock(&self, name: &str) -> Result<Held, Error> {
        loop {
            if let Some(held) = self.lock_until(name, None, None).await? {
                return Ok(held);
            }
        }
    }

    /// Waits for the lock `name`, at most `wait` long. Zero takes the lock only if it is free. Returns `None` if the
    /// lock did not come in time. Operations run through `hook`.
    ///
    /// # Errors
    /// When Redis does not answer.
    pub async fn lock_within(
        &self,
        name: &str,
        wait: Duration,
        hook: Option<&dyn Hook>,
    ) -> Result<Option<Held>, Error> {
        self.lock_until(name, Instant::now().checked_add(wait), hook).await
    }

    async fn lock_until(
        &self,
        name: &str,
        deadline: Option<Instant>,
        hook: Option<&dyn Hook>,
    ) -> Result<Option<Held>, Error> {
        if self.shared.settings.batch > 1 {
            let hold = self.local.wait(&self.shared, name, deadline, hook).await?;
            return Ok(hold.map(Held::from_local_queue));
        }
        let hold = Ticket::new(&self.shared, name).wait(deadline, hook).await?;
        Ok(hold.map(Held::from_redis))
    }

    /// Returns the keys of a lock in Redis. Delete them to remove the lock from any holder.
    pub fn keys(name: &str) -> [String; 3] {
        keys(name)
    }
}
