//! A lease lock with a fencing token (fence), rising with each holder. The store refuses one lower than it has seen.
//!
//! ```text
//! A: lock -> fence 33; read 1
//! (the lease ends)
//!                     B: lock -> fence 34
//!                     B: read 1; write 0 where fence < 34, order
//! A: write 0 where fence < 33     -- refused: busy. If A writes before B, B is refused
//! ```
//!
//! The order of the fences decides, in the statement that writes. That order alone would let A write between B's read
//! and B's write. So the write also requires that the last writer's fence is still the one that was read. The clocks of
//! the instances do no harm. The count begins with the time of Redis: if Redis loses it while its clock is behind, it
//! begins below the last fence and rises by one. The store then refuses everybody: nothing is sold, nor oversold.
//! Cost: two round trips, and one for each attempt while waiting.

use std::sync::Arc;

use async_trait::async_trait;
use redis::Script;
use uuid::Uuid;

use super::lock_key::lock_key;
use super::redis_lock::owner_token::{self, COMPARE_DEL};
use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Fence, Name};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step, StepValue};
use crate::stores::Redis;
use crate::timeouts::{PAUSE, Timeouts};

/// Takes the lock KEYS[1] for ARGV[1], for ARGV[2] ms, and increments KEYS[2]. Returns the fence, or nil when the lock
/// is held. The count begins with the server's time in microseconds: if Redis loses its data, a count from 1 would be
/// refused for ever by a store that remembers a higher fence. So the key may also expire after a day without a holder.
const ACQUIRE: &str = r"
if not redis.call('set', KEYS[1], ARGV[1], 'nx', 'px', ARGV[2]) then
    return nil
end
if redis.call('exists', KEYS[2]) == 0 then
    local time = redis.call('time')
    redis.call('set', KEYS[2], string.format('%.0f', time[1] * 1000000 + time[2]))
end
redis.call('expire', KEYS[2], 86400)
return redis.call('incr', KEYS[2])
";

const SET_NX_INCR: Step = Step::command("set-nx-incr", &["EVALSHA"])
    .writes(Data::LOCK)
    .plays(Role::Lock);

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "fenced",
        family: Family::LeaseLock,
        lesson: 6,
        summary: "a lease lock with a fencing token; the store refuses a write with an older one",
        claims: Claims {
            survives: &[
                "slow-holder",
                "clock-jump",
                "paused-holder",
                "blocked-runtime",
                "redis-restart-aof",
                "redis-power-loss-synced",
                "redis-restart",
                "redis-failover",
                "sql-restart",
                "sql-gone",
                "store-silent",
                "instance-cut-off",
                "node-cut-off",
            ],
            broken_by: &["redis-restart-clock-back"],
            ..AS_FAMILY
        },
        weak_at: "write",
        needs: &["redis"],
        source: include_str!("fenced.rs"),
    },
    steps: &[SET_NX_INCR, PAUSE, COMPARE_DEL],
    reentrant: false,
    open: |world, store| {
        Box::pin(async move {
            opened(Fenced {
                redis: world.redis(store)?,
                acquire: Script::new(ACQUIRE),
                release: Arc::new(Script::new(owner_token::RELEASE)),
                timeouts: world.timeouts,
            })
        })
    },
};

struct Fenced {
    redis: Arc<Redis>,
    acquire: Script,
    release: Arc<Script>,
    timeouts: Timeouts,
}

/// The key of the last fence of an item. It outlives every lock.
fn fences_key(item: &Name) -> String {
    format!("fences:{{{item}}}")
}

#[async_trait]
impl Guard for Fenced {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let (key, token) = (lock_key(item), Uuid::new_v4().to_string());
        let mut acquire = self.acquire.key(&key);
        acquire.key(fences_key(item)).arg(&token);
        acquire.arg(self.timeouts.lease.as_millis() as u64);
        let mut backoff = self.timeouts.backoff();
        while backoff.again(item, probe).await {
            let fence: Option<u64> = probe
                .step(&SET_NX_INCR, &key, self.redis.run(&acquire), in_words)
                .await?;
            if let Some(fence) = fence {
                let lock = owner_token::HeldLock {
                    redis: self.redis.clone(),
                    release: self.release.clone(),
                    key,
                    token,
                };
                return Ok(Some(Box::new(HeldLock { lock, fence })));
            }
        }
        Ok(None)
    }

    /// Deletes the fence, too: a sale that is opened again does not remember those of the sale before.
    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.redis.forget(&[lock_key(item), fences_key(item)]).await
    }
}

fn in_words(fence: &Option<u64>) -> StepValue {
    fence.map_or(StepValue::Taken(false), StepValue::Fence)
}

struct HeldLock {
    lock: owner_token::HeldLock,
    fence: u64,
}

#[async_trait]
impl Held for HeldLock {
    fn fence(&self) -> Option<Fence> {
        Some(Fence(self.fence))
    }

    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        Box::new(self.lock).release(probe).await
    }
}
