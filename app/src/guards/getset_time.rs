//! The expiry time as the lock's value, by the instance's own clock, and a take-over by GETSET.
//!
//! ```text
//! A: reads its clock; SET lock NOW+1000 NX PX 1000 -> OK; (killed)
//! (NOW+1000 is over; the time to live in Redis began later and is not)
//!                     B: SET -> nil, GET -> a time that is over, GETSET lock 1000 -> the same: taken
//!                     C: SET -> nil, GET -> 1000, GETSET lock 1000 -> the same: taken, as by all waiters
//! ```
//!
//! GETSET writes the length of the lease and not the time of its end, so the next waiter finds the lock expired. Losers
//! overwrite the winner's value. GETSET also removes the time to live. A clock that is ahead takes the lock from a live
//! holder in the same way. Source: tutorial 000, its wrong lock, which is tried once and shows no release: here a
//! purchase tries it again, and the release is a bare DEL.
//! Cost: two round trips, two for each attempt while waiting, and one more for a take-over.

use std::sync::Arc;
use std::time::SystemTime;

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

const SET_NX: Step = Step::command("set-nx", &["SET"]).writes(Data::LOCK).plays(Role::Lock);
const GET: Step = Step::command("get", &["GET"]).reads(Data::LOCK);
const GETSET: Step = Step::command("getset", &["GETSET"]).writes(Data::LOCK);

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "getset-time",
        family: Family::LeaseLock,
        lesson: 4,
        summary: "expiry time as the value, taken over by GETSET, on the instance's own clock",
        claims: Claims {
            broken_by: &["clock-back"],
            sometimes_broken_by: &["crashed-holder", "crashed-between", "lost-reply"],
            ..AS_FAMILY
        },
        weak_at: "write",
        needs: &["redis"],
        source: include_str!("getset_time.rs"),
    },
    steps: &[SET_NX, GET, GETSET, PAUSE, DEL],
    reentrant: false,
    open: |world, store| {
        Box::pin(async move {
            opened(GetsetTime {
                redis: world.redis(store)?,
                timeouts: world.timeouts,
            })
        })
    },
};

struct GetsetTime {
    redis: Arc<Redis>,
    timeouts: Timeouts,
}

/// Returns the milliseconds since 1970, by the local clock.
fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.unwrap_or_default().as_millis() as u64
}

impl GetsetTime {
    async fn attempt(&self, key: &str, probe: &Probe) -> Result<bool, Error> {
        let lease_ms = self.timeouts.lease.as_millis() as u64;
        let mut set = cmd("SET");
        set.arg(key).arg(now_ms() + lease_ms).arg("NX").arg("PX").arg(lease_ms);
        if probe.step(&SET_NX, &key, self.redis.send(&set), taken_or_held).await? {
            return Ok(true);
        }
        let words = |found: &Option<u64>| found.map_or("nil".to_owned(), |time_ms| time_ms.to_string());
        let found: Option<u64> = probe
            .step(&GET, &key, self.redis.send(cmd("GET").arg(key)), words)
            .await?;
        if found.is_none_or(|over_at_ms| over_at_ms >= now_ms()) {
            return Ok(false);
        }
        let mut getset = cmd("GETSET");
        getset.arg(key).arg(lease_ms);
        let before: Option<u64> = probe.step(&GETSET, &key, self.redis.send(&getset), words).await?;
        Ok(before == found)
    }
}

#[async_trait]
impl Guard for GetsetTime {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let key = lock_key(item);
        let mut backoff = self.timeouts.backoff();
        while backoff.again(item, probe).await {
            if self.attempt(&key, probe).await? {
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
