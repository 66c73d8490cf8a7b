//! A contender: a lock that can be measured, in this process or in another.

use anyhow::Result;
use async_trait::async_trait;

use super::commands::CommandCounter;
use super::contention::{Contention, contend};
use super::lock_kind::LockKind;
use super::sample::Sample;

/// A lock that can be measured.
#[async_trait]
pub trait Contender: Send + Sync {
    /// The name in results.
    fn name(&self) -> &str;

    /// As [`LockKind::sends`].
    fn sends(&self) -> &'static [&'static str];

    /// Prepares the contender. With `fetch` it may download missing parts.
    ///
    /// # Errors
    /// When a part is not available.
    async fn prepare(&self, _fetch: bool) -> Result<()> {
        Ok(())
    }

    /// Runs one contention at `url`. `counter` counts commands over another connection to the same Redis.
    ///
    /// # Errors
    /// When Redis does not answer, or a holder does not return.
    async fn contend(&self, contention: Contention, url: &str, counter: &mut CommandCounter) -> Result<Sample>;
}

#[async_trait]
impl<K: LockKind> Contender for K {
    fn name(&self) -> &str {
        LockKind::name(self)
    }

    fn sends(&self) -> &'static [&'static str] {
        LockKind::sends(self)
    }

    async fn contend(&self, contention: Contention, url: &str, counter: &mut CommandCounter) -> Result<Sample> {
        contend(self, contention, url, counter).await
    }
}
