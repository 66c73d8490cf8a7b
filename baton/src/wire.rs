//! The connections to Redis.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use redis::aio::{ConnectionManager, ConnectionManagerConfig, PubSub};
use redis::{Client, FromRedisValue, RedisResult, ScriptInvocation};
use tokio::time::timeout;

use crate::error::Error;

/// How often a lost connection is tried again before a command is told so.
const RECONNECTS: usize = 2;

/// The longest pause between two tries.
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

    /// Runs a script; one that Redis has forgotten is loaded again.
    pub(crate) async fn run<T: FromRedisValue>(&self, call: &ScriptInvocation<'_>) -> Result<T, Error> {
        self.run_within(self.answer_within, call).await
    }

    /// The same, for what has less time.
    pub(crate) async fn run_within<T: FromRedisValue>(
        &self,
        within: Duration,
        call: &ScriptInvocation<'_>,
    ) -> Result<T, Error> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let answer = in_time(within, call.invoke_async(&mut shared)).await;
        if answer.as_ref().is_err_and(redis::RedisError::is_timeout) {
            // The client makes a connection anew that was closed, not one that went silent.
            let anew = ConnectionManager::new_lazy_with_config(self.client.clone(), limits(self.answer_within))?;
            *self.shared.lock().unwrap_or_else(PoisonError::into_inner) = anew;
        }
        Ok(answer?)
    }

    /// A connection of its own that hears what is said on `channel`.
    pub(crate) async fn listen(&self, channel: &str) -> Result<PubSub, Error> {
        let listening = async {
            let mut subscriber = self.client.get_async_pubsub().await?;
            subscriber.subscribe(channel).await?;
            Ok(subscriber)
        };
        Ok(in_time(self.answer_within, listening).await?)
    }

    /// Whether a subscription still lives.
    pub(crate) async fn ping(&self, subscription: &mut PubSub) -> Result<(), Error> {
        let answer = in_time(self.answer_within, subscription.ping::<redis::Value>()).await;
        Ok(answer.map(drop)?)
    }
}

/// What comes of `asked`, if it comes in time.
async fn in_time<T>(within: Duration, asked: impl Future<Output = RedisResult<T>>) -> RedisResult<T> {
    let late = |_| Err(io::Error::from(io::ErrorKind::TimedOut).into());
    timeout(within, asked).await.unwrap_or_else(late)
}

fn limits(answer_within: Duration) -> ConnectionManagerConfig {
    ConnectionManagerConfig::new()
        // Each command has a limit of its own.
        .set_response_timeout(None)
        .set_connection_timeout(Some(answer_within))
        .set_number_of_retries(RECONNECTS)
        .set_max_delay(MAX_PAUSE)
}
