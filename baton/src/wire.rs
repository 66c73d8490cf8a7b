//! The connections to Redis.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use redis::aio::{ConnectionManager, ConnectionManagerConfig, PubSub};
use redis::{Client, FromRedisValue, RedisResult, ScriptInvocation};
use tokio::time::timeout;

use crate::error::Error;

/// Attempts to reconnect before a command fails.
const RECONNECTS: usize = 2;

/// The longest pause between two attempts.
const MAX_PAUSE: Duration = Duration::from_secs(1);

pub(crate) struct Wire {
    client: Client,
    answer_within: Duration,
    shared: Mutex<ConnectionManager>,
}

impl Wire {
    pub(crate) async fn connect(client: Client, answer_within: Duration) -> Result<Self, Error> {
        let shared = ConnectionManager::new_with_config(client.clone(), limits(answer_within)).await?;
        Ok(Self {
            client,
            answer_within,
            shared: Mutex::new(shared),
        })
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
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let answer = in_time(within, call.invoke_async(&mut shared)).await;
        if answer.as_ref().is_err_and(redis::RedisError::is_timeout) {
            // The client replaces a closed connection by itself, but not a silent one.
            let new = ConnectionManager::new_lazy_with_config(self.client.clone(), limits(self.answer_within))?;
            *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = new;
        }
        Ok(answer?)
    }

    /// Opens a separate connection and subscribes to `channel`.
    pub(crate) async fn subscribe(&self, channel: &str) -> Result<PubSub, Error> {
        let subscribing = async {
            let mut subscriber = self.client.get_async_pubsub().await?;
            subscriber.subscribe(channel).await?;
            Ok(subscriber)
        };
        Ok(in_time(self.answer_within, subscribing).await?)
    }

    /// Checks that a subscription is alive.
    pub(crate) async fn ping(&self, subscription: &mut PubSub) -> Result<(), Error> {
        let answer = in_time(self.answer_within, subscription.ping::<redis::Value>()).await;
        Ok(answer.map(drop)?)
    }
}

/// The answer, or a timeout.
async fn in_time<T>(within: Duration, answer: impl Future<Output = RedisResult<T>>) -> RedisResult<T> {
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
