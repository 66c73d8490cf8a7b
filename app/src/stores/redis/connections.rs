//! The connections to Redis. What they send they hand out as commands, so that only the seam can send it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use deadpool::Runtime;
use deadpool::managed::{self, Metrics, Object, Pool, PoolError, RecycleError, RecycleResult};
use futures_util::StreamExt;
use redis::aio::{ConnectionManager, ConnectionManagerConfig, MultiplexedConnection, PubSub};
use redis::io::tcp::{TcpSettings, socket2::TcpKeepalive};
use redis::{
    AsyncConnectionConfig, Cmd, FromRedisValue, IntoConnectionInfo, Msg, Pipeline, RedisError, RedisResult,
    ScriptInvocation,
};

use tokio::time::timeout;

use super::super::{ANSWER_WITHIN, CONNECT_WITHIN, Origin, POOL_SIZE, UNTESTED_FOR};
use super::Redis;
use crate::domain::Error;
use crate::probe::Command;

/// How often a lost connection is tried again before a command is told so, 0.1 to 0.2 s and then 0.2 to 0.4 s apart. With
/// the client's own six, each purchase would wait ten seconds for a Redis that is gone.
const RECONNECTS: usize = 2;

/// What one instance keeps open.
pub(super) struct Connections {
    client: redis::Client,
    shared: ArcSwap<ConnectionManager>,
    answer_within: Duration,
    pool: Pool<Manager>,
}

impl Connections {
    pub(super) async fn open(url: &str, wait: Duration, answer_within: Duration) -> Result<Self, Error> {
        // A peer that has vanished without a word is found out by the kernel, also while nothing is asked.
        let tcp = TcpSettings::default()
            .set_nodelay(true)
            .set_keepalive(
                TcpKeepalive::new()
                    .with_time(ANSWER_WITHIN)
                    .with_interval(CONNECT_WITHIN),
            )
            .set_user_timeout(ANSWER_WITHIN);
        let client = redis::Client::open(url.into_connection_info()?.set_tcp_settings(tcp))?;
        let pool = Pool::builder(Manager {
            client: client.clone(),
            lost: AtomicU64::new(0),
        })
        .max_size(POOL_SIZE)
        .wait_timeout(Some(wait))
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(|_| RedisError::from((redis::ErrorKind::Client, "the pool could not be built")))?;
        let shared = ConnectionManager::new_with_config(client.clone(), limits(answer_within)).await?;
        Ok(Self {
            client,
            shared: ArcSwap::from_pointee(shared),
            answer_within,
            pool,
        })
    }

    /// The connection of all purchases, as it is now.
    pub(super) fn shared(&self) -> Arc<ConnectionManager> {
        self.shared.load_full()
    }

    /// What came back on `used`. The client makes a new connection when one is closed, not when one goes silent: on that
    /// every later command would wait and fail too.
    pub(super) fn settle<T>(&self, used: &Arc<ConnectionManager>, answer: RedisResult<T>) -> Result<T, Error> {
        if answer.as_ref().is_err_and(RedisError::is_timeout) {
            let anew = ConnectionManager::new_lazy_with_config(self.client.clone(), limits(self.answer_within))?;
            self.shared.compare_and_swap(used, Arc::new(anew));
        }
        Ok(answer?)
    }
}

fn limits(answer_within: Duration) -> ConnectionManagerConfig {
    ConnectionManagerConfig::new()
        .set_response_timeout(Some(answer_within))
        .set_connection_timeout(Some(CONNECT_WITHIN))
        .set_number_of_retries(RECONNECTS)
        .set_max_delay(CONNECT_WITHIN)
}

impl Redis {
    /// One command on the connection that all purchases share: there they travel side by side.
    pub fn send<'a, T: FromRedisValue>(
        &'a self,
        command: &'a Cmd,
    ) -> Command<impl Future<Output = Result<T, Error>> + use<'a, T>> {
        let shared = self.connections.shared();
        Command::new(async move {
            let answer = command.query_async(&mut (*shared).clone()).await;
            self.connections.settle(&shared, answer)
        })
    }

    /// Several commands in one round trip on the shared connection.
    pub fn send_all<'a, T: FromRedisValue>(
        &'a self,
        pipeline: &'a Pipeline,
    ) -> Command<impl Future<Output = Result<T, Error>> + use<'a, T>> {
        let shared = self.connections.shared();
        Command::new(async move {
            let answer = pipeline.query_async(&mut (*shared).clone()).await;
            self.connections.settle(&shared, answer)
        })
    }

    /// What an operator asks, which is no step of a purchase.
    ///
    /// # Errors
    /// When Redis refuses or does not answer.
    pub async fn operate<T: FromRedisValue>(&self, pipeline: &Pipeline) -> Result<T, Error> {
        let shared = self.connections.shared();
        let answer = pipeline.query_async(&mut (*shared).clone()).await;
        self.connections.settle(&shared, answer)
    }

    /// A script on the shared connection. One that Redis has forgotten is loaded again within the same command.
    pub fn run<'a, T: FromRedisValue>(
        &'a self,
        script: &'a ScriptInvocation<'a>,
    ) -> Command<impl Future<Output = Result<T, Error>> + use<'a, T>> {
        let shared = self.connections.shared();
        Command::new(async move {
            let answer = script.invoke_async(&mut (*shared).clone()).await;
            self.connections.settle(&shared, answer)
        })
    }

    /// A connection of one's own, for WATCH, whose state belongs to the connection. Waits for one to be free.
    pub fn connection(&self) -> Command<impl Future<Output = Result<Connection, Error>>> {
        Command::new(async {
            match self.connections.pool.get().await {
                Ok(link) => Ok(Connection(link)),
                Err(PoolError::Backend(error)) => Err(error.into()),
                Err(other) => Err(Error::no_connection("redis", &other)),
            }
        })
    }

    /// A new connection that hears every message on the channels of `pattern`.
    pub fn subscribe(&self, pattern: &'static str) -> Command<impl Future<Output = Result<Subscription, Error>>> {
        Command::new(async move {
            let listening = async {
                let mut subscriber = self.connections.client.get_async_pubsub().await?;
                subscriber.psubscribe(pattern).await?;
                Ok(Subscription(subscriber))
            };
            Ok(in_time(listening).await?)
        })
    }
}

/// A connection that hears messages.
pub struct Subscription(PubSub);

impl Subscription {
    /// The next message; none when the connection has ended.
    pub async fn next(&mut self) -> Option<Msg> {
        self.0.on_message().next().await
    }

    /// Whether the other side is still there. It says who asks, so that Redis' own log can tell it from other pings.
    pub fn ping(&mut self) -> Command<impl Future<Output = Result<(), Error>>> {
        Command::new(async {
            let answered = in_time(self.0.ping_message::<redis::Value>("listener")).await;
            Ok(answered.map(drop)?)
        })
    }
}

/// The client sets no limit to what a subscriber does.
async fn in_time<T>(asked: impl Future<Output = RedisResult<T>>) -> RedisResult<T> {
    let late = |_| Err(io::Error::from(io::ErrorKind::TimedOut).into());
    timeout(CONNECT_WITHIN, asked).await.unwrap_or_else(late)
}

/// A connection that nobody else uses meanwhile. It goes back to the others when dropped, unless it failed.
pub struct Connection(Object<Manager>);

impl Connection {
    /// Where it comes from.
    pub fn origin(&self) -> Origin {
        self.0.origin
    }

    /// Several commands in one round trip.
    pub fn send_all<'a, T: FromRedisValue + 'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
    ) -> Command<impl Future<Output = Result<T, Error>> + 'a> {
        Command::new(async move {
            self.0.usable = false;
            let answer: RedisResult<T> = pipeline.query_async(&mut self.0.connection).await;
            self.0.usable = answer.is_ok();
            if answer.as_ref().is_err_and(RedisError::is_connection_dropped)
                && let Some(pool) = Object::pool(&self.0)
            {
                pool.manager().lost.fetch_add(1, Ordering::Relaxed);
            }
            Ok(answer?)
        })
    }
}

struct Link {
    connection: MultiplexedConnection,
    usable: bool,
    origin: Origin,
    /// How many of the pool were lost when this one was made or last tested.
    lost_before: u64,
}

struct Manager {
    client: redis::Client,
    /// How many connections of the pool were lost so far: what ended one has most likely ended others.
    lost: AtomicU64,
}

impl managed::Manager for Manager {
    type Type = Link;
    type Error = RedisError;

    async fn create(&self) -> Result<Link, RedisError> {
        let limits = AsyncConnectionConfig::new()
            .set_response_timeout(Some(ANSWER_WITHIN))
            .set_connection_timeout(Some(CONNECT_WITHIN));
        let lost_before = self.lost.load(Ordering::Relaxed);
        Ok(Link {
            connection: self
                .client
                .get_multiplexed_async_connection_with_config(&limits)
                .await?,
            usable: true,
            origin: Origin::New,
            lost_before,
        })
    }

    async fn recycle(&self, link: &mut Link, metrics: &Metrics) -> RecycleResult<RedisError> {
        if !link.usable {
            return Err(RecycleError::message("the last command failed"));
        }
        link.origin = Origin::Kept;
        let lost = self.lost.load(Ordering::Relaxed);
        if link.lost_before != lost || metrics.last_used() > UNTESTED_FOR {
            link.origin = Origin::Tested;
            redis::cmd("PING").exec_async(&mut link.connection).await?;
            link.lost_before = lost;
        }
        Ok(())
    }
}
