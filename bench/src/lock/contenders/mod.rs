//! The locks that are measured. One file each; [`all`] is the one list.

mod baton;
mod no_lock;
mod redis_py;
mod rslock;
mod shop;

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;

use super::commands::CommandCounter;
use super::contention::{Contention, contend};
use super::seen::Seen;
use crate::setting::Setting;

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
        Box::<redis_py::RedisPy>::default(),
        Box::new(baton::Handed::in_batches_of(1)),
        Box::new(baton::Handed::in_batches_of(8)),
        Box::new(baton::Handed::in_batches_of(64)),
    ]
}

/// Those of `contenders` that can be had here; of the others it is said why not.
pub async fn present(setting: &Setting, contenders: Vec<Box<dyn Contender>>) -> Vec<Box<dyn Contender>> {
    let mut present = Vec::new();
    for contender in contenders {
        match contender.prepare(setting.local.options.fetch).await {
            Ok(()) => present.push(contender),
            Err(why) => (setting.says)(&format!("without {}: {why:#}", contender.name())),
        }
    }
    present
}

/// A kind of lock.
#[async_trait]
pub trait Contender: Send + Sync {
    /// What it is called in results.
    fn name(&self) -> &str;

    /// The commands that it sends, in small letters; none that one of its scripts calls.
    fn sends(&self) -> &'static [&'static str];

    /// Gets it ready; where `fetch` is set, what is missing may be fetched.
    ///
    /// # Errors
    /// When it cannot be had here.
    async fn prepare(&self, _fetch: bool) -> Result<()> {
        Ok(())
    }

    /// Lets it be contended for at `url`. Commands are counted at `counter`, which is another way to the same Redis.
    ///
    /// # Errors
    /// When Redis does not answer, or a holder does not come back.
    async fn contend(&self, contention: Contention, url: &str, counter: &mut CommandCounter) -> Result<Seen>;
}

/// A kind of lock that is contended for by tasks of this process.
#[async_trait]
pub trait Kind: Send + Sync {
    /// As [`Contender::name`].
    fn name(&self) -> &str;

    /// As [`Contender::sends`].
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

#[async_trait]
impl<K: Kind> Contender for K {
    fn name(&self) -> &str {
        Kind::name(self)
    }

    fn sends(&self) -> &'static [&'static str] {
        Kind::sends(self)
    }

    async fn contend(&self, contention: Contention, url: &str, counter: &mut CommandCounter) -> Result<Seen> {
        contend(self, contention, url, counter).await
    }
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
