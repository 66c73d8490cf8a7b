//! The connection over which scripts go to Redis.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use redis::aio::{ConnectionLike, ConnectionManager, ConnectionManagerConfig};
use redis::{Client, FromRedisValue, RedisResult, ScriptInvocation, Value, from_redis_value};
use tokio::time::timeout;

use crate::error::Error;

/// Attempts to reconnect before a command fails.
const RECONNECTS: usize = 2;

/// The longest pause between two attempts.
const MAX_PAUSE: Duration = Duration::from_secs(1);

pub(crate) struct Wire {
    open: Box<dyn Fn() -> RedisResult<Connection> + Send + Sync>,
    answer_within: Duration,
    shared: Mutex<Connection>,
}

type Connection = Arc<dyn RunsScripts>;

trait RunsScripts: Send + Sync {
    fn run<'a>(&self, call: &'a ScriptInvocation<'_>) -> BoxFuture<'a, RedisResult<Value>>;
}

impl<C: ConnectionLike + Clone + Send + Sync + 'static> RunsScripts for C {
    fn run<'a>(&self, call: &'a ScriptInvocation<'_>) -> BoxFuture<'a, RedisResult<Value>> {
        let mut connection = self.clone();
        Box::pin(async move { call.invoke_async(&mut connection).await })
    }
}

impl Wire {
    /// Connects to one server, and waits until it answers.
    pub(crate) async fn connect(client: Client, answer_within: Duration) -> Result<Self, Error> {
        let first = ConnectionManager::new_with_config(client.clone(), limits(answer_within)).await?;
        let open = move || ConnectionManager::new_lazy_with_config(client.clone(), limits(answer_within));
        Ok(Self::over(first, open, answer_within))
    }

    /// Sends over `first`, and over a new connection from `open` after that one did not answer.
    pub(crate) fn over<C: ConnectionLike + Clone + Send + Sync + 'static>(
        first: C,
        open: impl Fn() -> RedisResult<C> + Send + Sync + 'static,
        answer_within: Duration,
    ) -> Self {
        Self {
            open: Box::new(move || Ok(Arc::new(open()?))),
            answer_within,
            shared: Mutex::new(Arc::new(first)),
        }
    }

    /// Runs a script, and loads it first if Redis does not know it.
    pub(crate) async fn run<T: FromRedisValue>(&self, call: &ScriptInvocation<'_>) -> Result<T, Error> {
        self.run_within(self.answer_within, call).await
    }

    /// As [`Self::run`], with a time limit of its own.
    pub(crate) async fn run_within<T: FromRedisValue>(
        &self,
        within: Duration,
        call: &ScriptInvocation<'_>,
    ) -> Result<T, Error> {
        let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let answer = in_time(within, shared.run(call)).await;
        if answer.as_ref().is_err_and(redis::RedisError::is_timeout) {
            // The client replaces a closed connection by itself, but not a silent one.
            *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = (self.open)()?;
        }
        Ok(from_redis_value(answer?).map_err(redis::RedisError::from)?)
    }
}

/// The answer, or a timeout.
pub(crate) async fn in_time<T>(within: Duration, answer: impl Future<Output = RedisResult<T>>) -> RedisResult<T> {
    let late = |_| Err(io::Error::from(io::ErrorKind::TimedOut).into());
    timeout(within, answer).await.unwrap_or_else(late)
}

fn limits(answer_within: Duration) -> ConnectionManagerConfig {
    ConnectionManagerConfig::new()
        // `in_time` limits each command.
        .set_response_timeout(None)
        .set_connection_timeout(Some(answer_within))
        .set_number_of_retries(RECONNECTS)
        .set_max_delay(MAX_PAUSE)
}
