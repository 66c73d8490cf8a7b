//! The read lock of a read-write lock (Redisson's `RReadWriteLock.readLock()`), held while the stock is written.
//!
//! ```text
//! A: read-lock: HINCRBY lock a 1, PEXPIRE 1000; read 1
//!                     B: read-lock: HINCRBY lock b 1, PEXPIRE 1000; read 1    -- the mode is read
//! A: write 0, order; read-unlock: HINCRBY lock a -1
//!                     B: write 0, order; read-unlock: HINCRBY lock b -1    -- oversold
//! ```
//!
//! Readers share the lock; it only keeps out a purchase that takes the write lock, and none does. The whole of
//! read-check-write needs the write lock. To read under one and then to ask for the other does not help: between the
//! two another purchase writes. Source: Redisson. Ours: one lease for all readers, which is not renewed, and a waiter
//! that pauses and tries again. There each reader has its own lease and renews it, and a message wakes waiters. Cost:
//! two round trips.

use std::sync::Arc;

use async_trait::async_trait;
use redis::Script;
use uuid::Uuid;

use super::lock_key::lock_key;
use super::redis_lock::taken_or_held;
use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_NO_LOCK, Family, Mechanism};
use crate::probe::{Data, Probe, Step};
use crate::stores::Redis;
use crate::timeouts::{PAUSE, Timeouts};

/// Takes the read lock KEYS[1] for ARGV[1], for ARGV[2] ms, unless a writer holds it. Returns whether it did.
const ENTER: &str = r"
local mode = redis.call('hget', KEYS[1], 'mode')
if mode and mode ~= 'read' then
    return 0
end
redis.call('hset', KEYS[1], 'mode', 'read')
redis.call('hincrby', KEYS[1], ARGV[1], 1)
redis.call('pexpire', KEYS[1], ARGV[2])
return 1
";

/// Leaves the read lock KEYS[1] as ARGV[1]; the last reader deletes it. Returns whether ARGV[1] was inside.
const LEAVE: &str = r"
if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
    return 0
end
if redis.call('hincrby', KEYS[1], ARGV[1], -1) <= 0 then
    redis.call('hdel', KEYS[1], ARGV[1])
end
if redis.call('hlen', KEYS[1]) == 1 then
    redis.call('del', KEYS[1])
end
return 1
";

// A lock that is shared does not play the role of one.
const READ_LOCK: Step = Step::command("read-lock", &["EVALSHA"]).writes(Data::LOCK);
const READ_UNLOCK: Step = Step::command("read-unlock", &["EVALSHA"]).writes(Data::LOCK);

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "read-lock",
        family: Family::LeaseLock,
        lesson: 4,
        summary: "the read lock of a read-write lock in Redis, held while the stock is written",
        claims: AS_NO_LOCK,
        weak_at: "write",
        needs: &["redis"],
        source: include_str!("read_lock.rs"),
    },
    steps: &[READ_LOCK, PAUSE, READ_UNLOCK],
    reentrant: true,
    open: |world, store| {
        Box::pin(async move {
            opened(ReadLock {
                redis: world.redis(store)?,
                enter: Script::new(ENTER),
                leave: Arc::new(Script::new(LEAVE)),
                timeouts: world.timeouts,
            })
        })
    },
};

struct ReadLock {
    redis: Arc<Redis>,
    enter: Script,
    leave: Arc<Script>,
    timeouts: Timeouts,
}

#[async_trait]
impl Guard for ReadLock {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let (key, owner) = (lock_key(item), Uuid::new_v4().to_string());
        let mut enter = self.enter.key(&key);
        enter.arg(&owner).arg(self.timeouts.lease.as_millis() as u64);
        let mut backoff = self.timeouts.backoff();
        while backoff.again(item, probe).await {
            if probe
                .step(&READ_LOCK, &key, self.redis.run(&enter), taken_or_held)
                .await?
            {
                let (redis, leave) = (self.redis.clone(), self.leave.clone());
                return Ok(Some(Box::new(HeldLock {
                    redis,
                    leave,
                    key,
                    owner,
                })));
            }
        }
        Ok(None)
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.redis.forget(&[lock_key(item)]).await
    }
}

struct HeldLock {
    redis: Arc<Redis>,
    leave: Arc<Script>,
    key: String,
    owner: String,
}

#[async_trait]
impl Held for HeldLock {
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        let mut leave = self.leave.key(&self.key);
        leave.arg(&self.owner);
        let words = |left: &bool| if *left { "left" } else { "lock gone" };
        let left = probe.step(&READ_UNLOCK, &self.key, self.redis.run(&leave), words);
        Ok(if left.await? {
            Released::InTime
        } else {
            Released::TooLate
        })
    }
}
