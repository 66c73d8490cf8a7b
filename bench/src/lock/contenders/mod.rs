//! The locks that are measured. One file each; [`all`] is the one list.

mod baton;
mod no_lock;
mod rslock;
mod shop;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;

/// How long a lock outlives its holder where nobody renews it: longer than any run lasts.
const LEASE: Duration = Duration::from_secs(30);

/// Every contender, in the order of the tables.
pub fn all() -> Vec<Box<dyn Contender>> {
    vec![
        Box::new(no_lock::NoLock),
        Box::new(shop::ShopGuard::TOKEN),
        Box::new(shop::ShopGuard::SPIN),
        Box::new(shop::ShopGuard::WATCHDOG),
        Box::new(rslock::RsLock),
        Box::new(baton::Handed::in_batches_of(1)),
        Box::new(baton::Handed::in_batches_of(8)),
        Box::new(baton::Handed::in_batches_of(64)),
    ]
}

/// A kind of lock.
#[async_trait]
pub trait Contender: Send + Sync {
    /// What it is called in results.
    fn name(&self) -> &str;

    /// The commands that it sends, in small letters; none that one of its scripts calls.
    fn sends(&self) -> &'static [&'static str];

    /// Whether one has it alone.
    fn is_lock(&self) -> bool {
        true
    }

    /// An instance, with connections of its own to the Redis at `url`.
    ///
    /// # Errors
    /// When it does not answer.
    async fn connect(&self, url: &str) -> Result<Arc<dyn Lock>>;
}

/// What the tasks of one instance share.
#[async_trait]
pub trait Lock: Send + Sync {
    /// Waits for the lock of that name, as long as it takes.
    ///
    /// # Errors
    /// When Redis does not answer.
    async fn lock(&self, name: &str) -> Result<Box<dyn Held>>;
}

/// A lock, while one has it.
#[async_trait]
pub trait Held: Send + Sync {
    /// The number by which a store would know this holder from an earlier one, where there is one.
    fn fence(&self) -> Option<u64> {
        None
    }

    /// Gives it back.
    ///
    /// # Errors
    /// When Redis does not answer.
    async fn release(self: Box<Self>) -> Result<()>;
}
