//! A lock that any purchase may take only once per interval: the time of the last one is stored beside the lock.
//!
//! ```text
//! A: TIME, SETNX lock a,5000 -> 1
//! A: GET lockt -> nil, GET lock -> a,5000; SET lockt 5000; sells or not; release
//!                     B: TIME, SETNX lock b,5003 -> 1
//!                     B: GET lockt -> 5000, GET lock -> b,5003     -- 3 ms after A
//!                     B: release; after a pause, again
//! ```
//!
//! The lock is that of `expiry-value` and breaks as it does. Source: tutorial 001, with its lockV2, as its first lock
//! writes no time. That time is the end of the lease. It is stored before anything is sold, and never expires: after a
//! clock that steps back every purchase is refused until the clock catches up. Ours: 5 ms in place of seconds, and
//! another attempt for a purchase that is too early (there: false) or finds no time (there: an exception, without a
//! release). Cost: seven round trips, three for each attempt while waiting, six for one that is too early.

use std::sync::Arc;

use async_trait::async_trait;
use redis::cmd;

use super::expiry_value::{DEL, ExpiryValue, GET, GET_OWNER, SETNX, TIME};
use super::lock_key::lock_key;
use super::{Guard, GuardEntry, Held, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::{Data, Probe, Step};
use crate::stores::Redis;
use crate::timeouts::{PAUSE, Timeouts};

/// The time between two purchases, in milliseconds.
const INTERVAL_MS: i64 = 5;

const GET_PREVIOUS: Step = Step::command("get-previous", &["GET"]).reads(Data::LOCK);
const GET_TIME: Step = Step::command("get-time", &["GET"]).reads(Data::LOCK);
const SET_PREVIOUS: Step = Step::command("set-previous", &["SET"]).writes(Data::LOCK);

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "interval",
        family: Family::LeaseLock,
        lesson: 4,
        summary: "expiry-value, and the time of the last purchase beside it: one purchase per interval",
        claims: Claims {
            broken_by: &["lost-reply"],
            sometimes_broken_by: &["crashed-holder", "crashed-between", "sql-restart", "sql-gone"],
            ..AS_FAMILY
        },
        weak_at: "del",
        needs: &["redis"],
        source: include_str!("interval.rs"),
    },
    steps: &[
        TIME,
        SETNX,
        GET,
        GET_OWNER,
        GET_PREVIOUS,
        GET_TIME,
        SET_PREVIOUS,
        PAUSE,
        DEL,
    ],
    reentrant: false,
    open: |world, store| {
        Box::pin(async move {
            opened(Interval {
                lock: ExpiryValue::open(world, store, world.timeouts.lease.as_millis() as u64)?,
                redis: world.redis(store)?,
                timeouts: world.timeouts,
            })
        })
    },
};

struct Interval {
    lock: ExpiryValue,
    redis: Arc<Redis>,
    timeouts: Timeouts,
}

/// The key of the time of the last purchase.
fn previous_key(item: &Name) -> String {
    format!("{}t", lock_key(item))
}

impl Interval {
    /// Whether the last purchase is an interval ago. If so, the holder of the lock is the last one from now on.
    async fn begins(&self, item: &Name, probe: &Probe) -> Result<bool, Error> {
        let (lock, previous) = (lock_key(item), previous_key(item));
        let get = |key: &str| cmd("GET").arg(key).to_owned();
        let (get_previous, get_time) = (get(&previous), get(&lock));
        let words = |found: &Option<String>| found.clone().unwrap_or_else(|| "nil".to_owned());
        let before: Option<String> = probe
            .step(&GET_PREVIOUS, &previous, self.redis.send(&get_previous), words)
            .await?;
        let value: Option<String> = probe.step(&GET_TIME, &lock, self.redis.send(&get_time), words).await?;
        let time = |text: &str| text.parse::<i64>().ok();
        // Nothing checks that the value is still that of this holder.
        let Some(now_ms) = value.as_deref().and_then(|value| time(value.split_once(',')?.1)) else {
            return Ok(false);
        };
        if let Some(before_ms) = before.as_deref().and_then(time)
            && now_ms - before_ms < INTERVAL_MS
        {
            return Ok(false);
        }
        let mut set = cmd("SET");
        set.arg(&previous).arg(now_ms);
        let () = probe
            .step(&SET_PREVIOUS, &previous, self.redis.send(&set), |()| "set")
            .await?;
        Ok(true)
    }
}

#[async_trait]
impl Guard for Interval {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let mut backoff = self.timeouts.backoff();
        while backoff.again(item, probe).await {
            let Some(held) = self.lock.try_lock(item, &backoff, probe).await? else {
                continue;
            };
            if self.begins(item, probe).await? {
                return Ok(Some(held));
            }
            held.release(probe).await?;
        }
        Ok(None)
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.redis.forget(&[lock_key(item), previous_key(item)]).await
    }
}
