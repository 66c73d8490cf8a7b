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

#[cfg(test)]
mod tests {
    use redis::AsyncCommands;
    use stack::Parts;

    use super::*;
    use crate::sale::Name;
    use crate::stores::Stores;

    const LEASE: Duration = Duration::from_secs(60);
    const KEY: &str = "lock:{sku}";
    const CHANNEL: &str = "released:{sku}";

    async fn protocol() -> (Protocol, stack::Stores) {
        let parts = Parts {
            redis_url: None,
            sql_url: None,
            fetch: true,
        };
        let servers = stack::Stores::start(&parts).unwrap();
        let instance = Name::parse("app-1").unwrap();
        let stores = Stores::connect(servers.redis_url(), servers.sql_url(), &instance, LEASE);
        (Protocol::new(&stores.await.unwrap().redis, LEASE), servers)
    }

    #[tokio::test]
    async fn an_owner_who_enters_twice_has_to_leave_twice() {
        let (protocol, _servers) = protocol().await;
        assert_eq!(protocol.lock(KEY, "a").await.unwrap(), None);
        assert_eq!(protocol.lock(KEY, "a").await.unwrap(), None);
        let entered: u64 = protocol.redis.shared().hget(KEY, "a").await.unwrap();
        assert_eq!(entered, 2);
        assert_eq!(protocol.release(KEY, CHANNEL, "a").await.unwrap(), Some(1));
        assert!(
            protocol.lock(KEY, "b").await.unwrap().is_some(),
            "still held by the first"
        );
        assert_eq!(protocol.release(KEY, CHANNEL, "a").await.unwrap(), Some(0));
        assert_eq!(protocol.lock(KEY, "b").await.unwrap(), None);
    }

    #[tokio::test]
    async fn nobody_but_the_owner_can_prolong_or_release() {
        let (protocol, _servers) = protocol().await;
        assert!(!protocol.renew(KEY, "a").await.unwrap(), "there is nothing to prolong");
        assert_eq!(protocol.release(KEY, CHANNEL, "a").await.unwrap(), None);
        assert_eq!(protocol.lock(KEY, "a").await.unwrap(), None);
        assert!(!protocol.renew(KEY, "b").await.unwrap());
        assert_eq!(protocol.release(KEY, CHANNEL, "b").await.unwrap(), None);
        assert!(protocol.renew(KEY, "a").await.unwrap());
    }

    #[tokio::test]
    async fn every_movement_gives_the_lock_a_whole_lease_again() {
        let (protocol, _servers) = protocol().await;
        let mut redis = protocol.redis.shared();
        protocol.lock(KEY, "a").await.unwrap();
        for movement in ["renew", "lock", "release"] {
            let _: bool = redis.pexpire(KEY, 1_000).await.unwrap();
            match movement {
                "renew" => assert!(protocol.renew(KEY, "a").await.unwrap()),
                "lock" => assert_eq!(protocol.lock(KEY, "a").await.unwrap(), None),
                _ => assert_eq!(protocol.release(KEY, CHANNEL, "a").await.unwrap(), Some(1)),
            }
            let left_ms: i64 = redis.pttl(KEY).await.unwrap();
            assert!(left_ms > 1_000, "{movement} left {left_ms} ms");
        }
    }
}
