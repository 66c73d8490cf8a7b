//! Lets a program see or disturb each command and each wait.

use std::borrow::Cow;
use std::fmt::Display;
use std::pin::Pin;

use crate::error::Error;

/// An operation of the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// EVALSHA: asks for the lock, for the first time or again.
    Acquire,
    /// Waits for the lock.
    Wait,
    /// EVALSHA: gives up the lock, or a place in the queue.
    Release,
    /// EVALSHA: renews every lease that is due.
    Renew,
    /// SUBSCRIBE: subscribes to the channel of this process.
    Subscribe,
    /// SSUBSCRIBE: subscribes to the channel of one lock, in a cluster.
    ShardSubscribe,
    /// SUNSUBSCRIBE: gives up the channel of one lock, in a cluster.
    ShardUnsubscribe,
    /// Waits for the next message.
    Receive,
    /// PING: checks that the subscription is alive.
    Ping,
}

/// The result of an operation. Only the operation itself makes one.
pub struct Summary {
    words: Cow<'static, str>,
    fence: Option<u64>,
}

impl Summary {
    pub(crate) fn new(words: impl Into<Cow<'static, str>>, fence: Option<u64>) -> Self {
        let words = words.into();
        Self { words, fence }
    }

    /// The words.
    pub fn text(&self) -> &str {
        &self.words
    }

    /// The fence of the lock, where the operation took it.
    pub fn fence(&self) -> Option<u64> {
        self.fence
    }
}

impl From<&'static str> for Summary {
    fn from(words: &'static str) -> Self {
        Self::new(words, None)
    }
}

impl From<String> for Summary {
    fn from(words: String) -> Self {
        Self::new(words, None)
    }
}

/// An operation that has not started.
pub type PendingOperation<'a> = Pin<Box<dyn Future<Output = Summary> + Send + 'a>>;

/// Code that runs around each operation.
pub trait Hook: Send + Sync + 'static {
    /// Runs `pending`, which concerns the lock or channel `key`. It must await `pending`, and may act before and after.
    fn run<'a>(&'a self, operation: Operation, key: &'a str, pending: PendingOperation<'a>) -> PendingOperation<'a>;
}

/// Runs `pending`, through the hook if there is one.
pub(crate) async fn observed<T: Send, W: Into<Summary>>(
    hook: Option<&dyn Hook>,
    operation: Operation,
    key: &str,
    pending: impl Future<Output = T> + Send,
    words: impl FnOnce(&T) -> W + Send,
) -> T {
    let Some(hook) = hook else {
        return pending.await;
    };
    let mut result = None;
    let summarized = Box::pin(async {
        let answer = pending.await;
        let summary = words(&answer).into();
        result = Some(answer);
        summary
    });
    hook.run(operation, key, summarized).await;
    result.expect("only the operation makes a Summary")
}

/// Describes the answer to a command that may have failed.
pub(crate) fn in_words<T, D: Display>(answer: &Result<T, Error>, words: impl FnOnce(&T) -> D) -> String {
    match answer {
        Ok(answer) => words(answer).to_string(),
        Err(error) => error.to_string(),
    }
}
