//! The three scripts of the lock, each one round trip.

use std::sync::Arc;
use std::time::Duration;

use redis::Script;

use crate::sale::Error;
use crate::stores::Redis;

/// The three scripts, and where they run.
pub(super) struct Protocol {
    redis: Arc<Redis>,
    lock: Script,
    renew: Script,
    release: Script,
    lease: Duration,
}

impl Protocol {
    pub(super) fn new(redis: &Arc<Redis>, lease: Duration) -> Self {
        Self {
            redis: redis.clone(),
            lock: Script::new(include_str!("lock.lua")),
            renew: Script::new(include_str!("renew.lua")),
            release: Script::new(include_str!("release.lua")),
            lease,
        }
    }

    /// How long a lock lives without renewal.
    pub(super) fn lease(&self) -> Duration {
        self.lease
    }

    fn lease_ms(&self) -> u64 {
        self.lease.as_millis() as u64
    }

    /// Takes the lock or enters it once more; otherwise how long the present lease still runs.
    pub(super) async fn lock(&self, key: &str, owner: &str) -> Result<Option<Duration>, Error> {
        let mut call = self.lock.key(key);
        let left_ms: Option<i64> = call
            .arg(self.lease_ms())
            .arg(owner)
            .invoke_async(&mut self.redis.shared())
            .await?;
        Ok(left_ms.map(|ms| Duration::from_millis(ms.max(1) as u64)))
    }

    /// False when the lock is no longer this owner's.
    pub(super) async fn renew(&self, key: &str, owner: &str) -> Result<bool, Error> {
        let mut call = self.renew.key(key);
        Ok(call
            .arg(self.lease_ms())
            .arg(owner)
            .invoke_async(&mut self.redis.shared())
            .await?)
    }

    /// Leaves once. `None` when the lock was not this owner's; else how often it is still entered.
    pub(super) async fn release(&self, key: &str, channel: &str, owner: &str) -> Result<Option<u64>, Error> {
        let mut call = self.release.key(key);
        Ok(call
            .key(channel)
            .arg(self.lease_ms())
            .arg(owner)
            .invoke_async(&mut self.redis.shared())
            .await?)
    }
}
