//! The owner-token lock without a pause: a waiter tries again at once, as fast as Redis answers.
//!
//! ```text
//! A: SET lock a NX PX 1000 -> OK; read 1
//!                     B: SET lock b NX PX 1000 -> nil    -- thousands of times per second, for each waiter
//! A: write 0, order; compare-del
//!                     B: SET lock b NX PX 1000 -> OK
//! ```
//!
//! As exact as `token`, and a handoff takes no longer than one round trip. But the waiters keep Redis busy. Like every
//! lease it does not survive a holder that outlives it. Source: the waiter of tutorial 003 (`token-watch`).
//! Cost: two round trips, and one for each attempt while waiting.

use std::sync::Arc;

use async_trait::async_trait;
use redis::{Script, cmd};
use tokio::task::yield_now;
use tokio::time::Instant;
use uuid::Uuid;

use super::lock_key::lock_key;
use super::redis_lock::owner_token::{COMPARE_DEL, HeldLock, RELEASE, SET_NX};
use super::redis_lock::retry::YIELD;
use super::redis_lock::taken_or_held;
use super::{Guard, GuardEntry, Held, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::Probe;
use crate::stores::Redis;
use crate::timeouts::Timeouts;

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "spin",
        family: Family::LeaseLock,
        lesson: 4,
        summary: "SET NX PX with an owner token, retried without a pause",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &["redis"],
        source: include_str!("spin.rs"),
    },
    steps: &[SET_NX, YIELD, COMPARE_DEL],
    reentrant: false,
    open: |world, store| {
        Box::pin(async move {
            opened(Spin {
                redis: world.redis(store)?,
                release: Arc::new(Script::new(RELEASE)),
                timeouts: world.timeouts,
            })
        })
    },
};

struct Spin {
    redis: Arc<Redis>,
    release: Arc<Script>,
    timeouts: Timeouts,
}

#[async_trait]
impl Guard for Spin {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let (key, token) = (lock_key(item), Uuid::new_v4().to_string());
        let lease_ms = self.timeouts.lease.as_millis() as u64;
        let mut set = cmd("SET");
        set.arg(&key).arg(&token).arg("NX").arg("PX").arg(lease_ms);
        let deadline = Instant::now() + self.timeouts.wait;
        while !probe.step(&SET_NX, &key, self.redis.send(&set), taken_or_held).await? {
            if Instant::now() >= deadline {
                return Ok(None);
            }
            probe.local(&YIELD, item, yield_now(), |()| "again").await;
        }
        Ok(Some(Box::new(HeldLock {
            redis: self.redis.clone(),
            release: self.release.clone(),
            key,
            token,
        })))
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.redis.forget(&[lock_key(item)]).await
    }
}
