//! The naive Redis lock: SETNX to take it, DEL to release it. No owner, no expiry.
//!
//! ```text
//! A: SETNX lock -> 1
//! A: (killed)
//!                     B: SETNX lock -> 0    -- and again, and again: nobody ever sells again
//! ```
//!
//! DEL does not check the owner either: a DEL by mistake lets a second holder in. An error does not keep the lock: the
//! DEL stands in a `finally`, and `setnx-no-finally` shows why. Source: tutorials 003 and 004. When the lock is taken,
//! 003 tries again without a pause or an end; 004 tells the buyer busy at once, so that a crowd would show little more
//! than busy. Here a purchase pauses, and waits as long as the shop lets it. Cost: two round trips, and one for each
//! attempt while waiting.

use std::sync::Arc;

use async_trait::async_trait;
use redis::cmd;

use super::lock_key::lock_key;
use super::redis_lock::blind_del::{DEL, HeldLock};
use super::redis_lock::taken_or_held;
use super::{Guard, GuardEntry, Held, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step};
use crate::stores::Redis;
use crate::timeouts::{PAUSE, Timeouts};
use crate::world::World;

pub(super) const SETNX: Step = Step::command("setnx", &["SETNX"]).writes(Data::LOCK).plays(Role::Lock);

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "setnx",
        family: Family::LockWithoutLease,
        lesson: 3,
        summary: "SETNX and a blind DEL: no owner, no expiry",
        claims: Claims {
            survives: &["sql-restart", "sql-gone"],
            broken_by: &["redis-restart", "redis-failover"],
            ..AS_FAMILY
        },
        weak_at: "write",
        needs: &["redis"],
        source: include_str!("setnx.rs"),
    },
    steps: &[SETNX, PAUSE, DEL],
    reentrant: false,
    open: |world, store| Box::pin(async move { opened(Setnx::open(world, store)?) }),
};

pub(super) struct Setnx {
    redis: Arc<Redis>,
    timeouts: Timeouts,
}

impl Setnx {
    pub(super) fn open(world: &World, store: &'static str) -> Result<Self, Error> {
        Ok(Self {
            redis: world.redis(store)?,
            timeouts: world.timeouts,
        })
    }
}

#[async_trait]
impl Guard for Setnx {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let key = lock_key(item);
        let mut setnx = cmd("SETNX");
        setnx.arg(&key).arg("locked");
        let mut backoff = self.timeouts.backoff();
        while backoff.again(item, probe).await {
            let locked: bool = probe.step(&SETNX, &key, self.redis.send(&setnx), taken_or_held).await?;
            if locked {
                let redis = self.redis.clone();
                return Ok(Some(Box::new(HeldLock { redis, key })));
            }
        }
        Ok(None)
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.redis.forget(&[lock_key(item)]).await
    }
}
