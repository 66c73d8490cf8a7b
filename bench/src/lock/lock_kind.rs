//! A lock, as tasks of this process use it.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;

/// How long an unrenewed lock outlives its holder: longer than any run.
pub(super) const LEASE: Duration = Duration::from_secs(30);

/// A kind of lock that tasks of this process contend for.
#[async_trait]
pub trait LockKind: Send + Sync {
    /// The name in results.
    fn name(&self) -> &str;

    /// The commands that it sends, in lower case. None of them may be a command that its scripts call.
    fn sends(&self) -> &'static [&'static str];

    /// Whether a holder is alone.
    fn is_lock(&self) -> bool {
        true
    }

    /// Makes an instance with its own connections to the Redis at `url`.
    ///
    /// # Errors
    /// When Redis does not answer.
    async fn connect(&self, url: &str) -> Result<Arc<dyn Lock>>;
}

/// The connections that the tasks of one instance share.
#[async_trait]
pub trait Lock: Send + Sync {
    /// Waits for the lock `name` without a limit.
    ///
    /// # Errors
    /// When Redis does not answer.
    async fn lock(&self, name: &str) -> Result<Box<dyn Held>>;
}

/// A held lock.
#[async_trait]
pub trait Held: Send + Sync {
    /// The fencing token, if the lock gives one.
    fn fence(&self) -> Option<u64> {
        None
    }

    /// Releases the lock.
    ///
    /// # Errors
    /// When Redis does not answer.
    async fn release(self: Box<Self>) -> Result<()>;
}
