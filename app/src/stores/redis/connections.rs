//! The connections to Redis. They create commands and do not send them, so that every command goes through the seam.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arc_swap::ArcSwap;
use baton::{Baton, Settings};
use deadpool::Runtime;
use deadpool::managed::{self, Metrics, Object, Pool, PoolError, RecycleError, RecycleResult};
use futures_util::StreamExt;
use futures_util::future::try_join_all;
use redis::aio::PubSub;
use redis::{Cmd, FromRedisValue, Msg, Pipeline, RedisError, RedisResult, ScriptInvocation};
use tokio::time::{sleep, timeout};

use super::super::{CONNECT_WITHIN, Origin, POOL_SIZE, UNTESTED_FOR};
use super::Redis;
use super::wire::{Server, Wire};
use crate::domain::Error;
use crate::probe::Command;

/// How often the commands of an operator are sent while their connection turns out to have ended.
const OPERATES: u32 = 4;

/// The time for the client to open a connection again that has ended.
const REOPENS_WITHIN: Duration = Duration::from_millis(20);

/// The open connections of one instance.
pub(super) struct Connections {
    server: Server,
    shared: ArcSwap<Wire>,
    answer_within: Duration,
    pool: Pool<Manager>,
}

impl Connections {
    pub(super) async fn open(server: Server, wait: Duration, answer_within: Duration) -> Result<Self, Error> {
        let pool = Pool::builder(Manager {
            server: server.clone(),
            lost: AtomicU64::new(0),
        })
        .max_size(POOL_SIZE)
        .wait_timeout(Some(wait))
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(|_| RedisError::from((redis::ErrorKind::Client, "the pool could not be built")))?;
        let shared = server.share(answer_within).await?;
        Ok(Self {
            server,
            shared: ArcSwap::from_pointee(shared),
            answer_within,
            pool,
        })
    }

    /// Whether they lead to a cluster.
    pub(super) fn is_cluster(&self) -> bool {
        matches!(self.server, Server::Cluster(_))
    }

    /// Returns the current connection that all purchases share.
    pub(super) fn shared(&self) -> Arc<Wire> {
        self.shared.load_full()
    }

    /// Opens the lock of the crate `baton`, over connections of its own.
    pub(super) async fn baton(&self, settings: Settings) -> Result<Baton, baton::Error> {
        match &self.server {
            Server::One(client) => Baton::connect((**client).clone(), settings).await,
            Server::Cluster(cluster) => {
                let (nodes, messages) = ((**cluster).clone(), cluster.for_messages()?);
                Baton::connect_cluster(move || Ok(nodes.share()), &messages, settings).await
            }
        }
    }

    /// Returns the answer that arrived on `used`, and replaces that connection after a timeout. The client reconnects
    /// when a connection is closed, but not when it goes silent: every later command on it would wait and fail too.
    pub(super) fn settle<T>(&self, used: &Arc<Wire>, answer: RedisResult<T>) -> Result<T, Error> {
        if answer.as_ref().is_err_and(RedisError::is_timeout) {
            let anew = self.server.share_anew(self.answer_within)?;
            self.shared.compare_and_swap(used, Arc::new(anew));
        }
        Ok(answer?)
    }
}

impl Redis {
    /// Creates one command on the connection that all purchases share.
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

    /// Creates several commands in one round trip on the shared connection.
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

    /// Sends the commands of an operator, which are not a step of a purchase and may be carried out twice: after a connection that
    /// has ended they are sent again.
    ///
    /// # Errors
    /// When Redis refuses or does not answer.
    pub async fn operate<T: FromRedisValue>(&self, pipeline: &Pipeline) -> Result<T, Error> {
        let mut tries = 1..OPERATES;
        loop {
            let shared = self.connections.shared();
            let answer = pipeline.query_async(&mut (*shared).clone()).await;
            let has_ended = answer.as_ref().is_err_and(RedisError::is_connection_dropped);
            if !has_ended || tries.next().is_none() {
                return self.connections.settle(&shared, answer);
            }
            sleep(REOPENS_WITHIN).await;
        }
    }

    /// Creates a script call on the shared connection. A script that Redis has lost is loaded again within the same
    /// command.
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

    /// Creates several script calls at once, each to the node of its keys.
    pub fn run_all<'a, T: FromRedisValue>(
        &'a self,
        scripts: &'a [ScriptInvocation<'a>],
    ) -> Command<impl Future<Output = Result<Vec<T>, Error>> + use<'a, T>> {
        let shared = self.connections.shared();
        Command::new(async move {
            let run = async |script: &'a ScriptInvocation<'a>| script.invoke_async(&mut (*shared).clone()).await;
            let answers = try_join_all(scripts.iter().map(run)).await;
            self.connections.settle(&shared, answers)
        })
    }

    /// Takes a connection out of the pool, for WATCH, whose state belongs to the connection. Waits until one is free.
    pub fn connection(&self) -> Command<impl Future<Output = Result<Connection, Error>>> {
        Command::new(async {
            match self.connections.pool.get().await {
                Ok(link) => Ok(Connection(link)),
                Err(PoolError::Backend(error)) => Err(error.into()),
                Err(other) => Err(Error::no_connection("redis", &other)),
            }
        })
    }

    /// Opens a new connection that receives every message on the channels of `pattern`.
    pub fn subscribe(&self, pattern: &'static str) -> Command<impl Future<Output = Result<Subscription, Error>>> {
        Command::new(async move {
            let listening = async {
                let mut subscriber = self.connections.server.listen().await?;
                subscriber.psubscribe(pattern).await?;
                Ok(Subscription(subscriber))
            };
            Ok(in_time(listening).await?)
        })
    }
}

/// A connection that receives messages.
pub struct Subscription(PubSub);

impl Subscription {
    /// Waits for the next message; `None` when the connection has ended.
    pub async fn next(&mut self) -> Option<Msg> {
        self.0.on_message().next().await
    }

    /// Checks that Redis still answers. The ping carries the word `listener`, so that Redis' own log shows its sender.
    pub fn ping(&mut self) -> Command<impl Future<Output = Result<(), Error>>> {
        Command::new(async {
            let answered = in_time(self.0.ping_message::<redis::Value>("listener")).await;
            Ok(answered.map(drop)?)
        })
    }
}

/// Limits the time of a subscriber's command: the client sets no limit.
async fn in_time<T>(asked: impl Future<Output = RedisResult<T>>) -> RedisResult<T> {
    let late = |_| Err(io::Error::from(io::ErrorKind::TimedOut).into());
    timeout(CONNECT_WITHIN, asked).await.unwrap_or_else(late)
}

/// A connection that one purchase uses alone. When dropped it returns to the pool, unless it failed.
pub struct Connection(Object<Manager>);

impl Connection {
    /// Returns its origin.
    pub fn origin(&self) -> Origin {
        self.0.origin
    }

    /// Creates several commands in one round trip.
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
    connection: Wire,
    usable: bool,
    origin: Origin,
    /// The count of lost connections of the pool when this one was made or last tested.
    lost_before: u64,
}

struct Manager {
    server: Server,
    /// The count of lost connections of the pool. The cause of one loss has most likely ended others too.
    lost: AtomicU64,
}

impl managed::Manager for Manager {
    type Type = Link;
    type Error = RedisError;

    async fn create(&self) -> Result<Link, RedisError> {
        let lost_before = self.lost.load(Ordering::Relaxed);
        Ok(Link {
            connection: self.server.connect().await?,
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
