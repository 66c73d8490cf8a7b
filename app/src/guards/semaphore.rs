//! A semaphore of two permits (Redisson's `RSemaphore`) around read-check-write, where a lock is needed.
//!
//! ```text
//! A: SETNX permits 2; take-permit: two are left, DECRBY permits 1; read 1
//!                     B: SETNX permits 2 -> 0; take-permit: one is left, DECRBY permits 1; read 1
//! A: write 0, order; INCRBY permits 1
//!                     B: write 0, order; INCRBY permits 1    -- oversold
//! ```
//!
//! A semaphore limits how many are inside, for a pool of connections or a rate. Only one of a single permit excludes. A
//! permit has no lease: each holder that dies takes one with it. Source: Redisson. Ours: a waiter pauses and tries
//! again; there a message of the release wakes it. Cost: three round trips, and one for each attempt while waiting.

use std::sync::Arc;

use async_trait::async_trait;
use redis::{Script, cmd};

use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_NO_LOCK, Claims, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step};
use crate::stores::Redis;
use crate::timeouts::{PAUSE, Timeouts};

/// The purchases that may be inside at one time.
const PERMITS: u64 = 2;

/// Takes a permit of KEYS[1], if one is left. Returns whether it did.
const ACQUIRE: &str = r"
local left = redis.call('get', KEYS[1])
if left and tonumber(left) >= 1 then
    redis.call('decrby', KEYS[1], 1)
    return 1
end
return 0
";

const SET_PERMITS: Step = Step::command("set-permits", &["SETNX"]).writes(Data::LOCK);
// A permit that several hold does not play the role of a lock: two holders at a time would count as an overlap.
const TAKE_PERMIT: Step = Step::command("take-permit", &["EVALSHA"])
    .writes(Data::LOCK)
    .plays(Role::Permit);
const GIVE_BACK: Step = Step::command("give-back", &["INCRBY"])
    .writes(Data::LOCK)
    .plays(Role::Release);

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "semaphore",
        family: Family::LockWithoutLease,
        lesson: 4,
        summary: "a semaphore of two permits in Redis, taken for a lock",
        claims: Claims {
            // Few buyers compete there, and one permit is lost.
            sometimes_broken_by: &["crashed-holder", "crashed-between"],
            ..AS_NO_LOCK
        },
        weak_at: "write",
        needs: &["redis"],
        source: include_str!("semaphore.rs"),
    },
    steps: &[SET_PERMITS, TAKE_PERMIT, PAUSE, GIVE_BACK],
    reentrant: true,
    open: |world, store| {
        Box::pin(async move {
            opened(Semaphore {
                redis: world.redis(store)?,
                acquire: Script::new(ACQUIRE),
                timeouts: world.timeouts,
            })
        })
    },
};

struct Semaphore {
    redis: Arc<Redis>,
    acquire: Script,
    timeouts: Timeouts,
}

fn permits_key(item: &Name) -> String {
    format!("permits:{{{item}}}")
}

#[async_trait]
impl Guard for Semaphore {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let key = permits_key(item);
        let mut set = cmd("SETNX");
        set.arg(&key).arg(PERMITS);
        let words = |set: &bool| if *set { "two permits" } else { "set before" };
        probe.step(&SET_PERMITS, &key, self.redis.send(&set), words).await?;
        let acquire = self.acquire.key(&key);
        let mut backoff = self.timeouts.backoff();
        while backoff.again(item, probe).await {
            let words = |taken: &bool| if *taken { "taken" } else { "none left" };
            if probe.step(&TAKE_PERMIT, &key, self.redis.run(&acquire), words).await? {
                let redis = self.redis.clone();
                return Ok(Some(Box::new(Permit { redis, key })));
            }
        }
        Ok(None)
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.redis.forget(&[permits_key(item)]).await
    }
}

struct Permit {
    redis: Arc<Redis>,
    key: String,
}

#[async_trait]
impl Held for Permit {
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        let mut incrby = cmd("INCRBY");
        incrby.arg(&self.key).arg(1);
        let words = |left: &u64| format!("{left} left");
        probe
            .step(&GIVE_BACK, &self.key, self.redis.send(&incrby), words)
            .await?;
        Ok(Released::InTime)
    }
}
