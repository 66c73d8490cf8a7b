//! Owner and expiry time as the lock's value, by Redis' clock. A waiter that sees it expired releases it for its owner.
//!
//! ```text
//! A: TIME, SETNX lock a,1000 -> 1; (killed); (the lease ends)
//!                     B: TIME, SETNX -> 0, get -> a,1000: expired; get-owner -> a
//!                     C: TIME, SETNX -> 0, get -> a,1000: expired; get-owner -> a
//!                     B: DEL; TIME, SETNX lock b,2000 -> 1
//!                     C: DEL                               -- B's lock
//!                     C: TIME, SETNX lock c,2000 -> 1      -- B and C are inside
//! ```
//!
//! The key has no time to live: it expires only when a waiter looks. The release compares the owner in one command and
//! deletes in another. Source: tutorial 001, lockV2. It adds seconds to milliseconds: `expiry-value-mixed-units`. It
//! answers a taken lock at once, and only logs an error of a take-over; here a purchase waits, and such an error ends
//! that. Cost: four round trips, three for each attempt while waiting, two more for a take-over.

use std::sync::Arc;

use async_trait::async_trait;
use redis::cmd;
use uuid::Uuid;

use super::lock_key::lock_key;
use super::redis_lock::taken_or_held;
use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step};
use crate::stores::Redis;
use crate::timeouts::{Backoff, PAUSE, Timeouts};
use crate::world::World;

pub(super) const TIME: Step = Step::command("time", &["TIME"]).reads(Data::NONE);
pub(super) const SETNX: Step = Step::command("setnx", &["SETNX"]).writes(Data::LOCK).plays(Role::Lock);
pub(super) const GET: Step = Step::command("get", &["GET"]).reads(Data::LOCK);
pub(super) const GET_OWNER: Step = Step::command("get-owner", &["GET"])
    .reads(Data::LOCK)
    .plays(Role::Verify);
pub(super) const DEL: Step = Step::command("del", &["DEL"]).writes(Data::LOCK).plays(Role::Release);

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "expiry-value",
        family: Family::LeaseLock,
        lesson: 4,
        summary: "owner and expiry in the value, by Redis TIME; waiters release an expired lock",
        claims: Claims {
            broken_by: &["lost-reply"],
            sometimes_broken_by: &["crashed-holder", "crashed-between", "sql-restart", "sql-gone"],
            ..AS_FAMILY
        },
        weak_at: "del",
        needs: &["redis"],
        source: include_str!("expiry_value.rs"),
    },
    steps: &STEPS,
    reentrant: false,
    open: |world, store| {
        let lease_ms = world.timeouts.lease.as_millis() as u64;
        Box::pin(async move { opened(ExpiryValue::open(world, store, lease_ms)?) })
    },
};

pub(super) const STEPS: [Step; 6] = [TIME, SETNX, GET, GET_OWNER, PAUSE, DEL];

pub(super) struct ExpiryValue {
    locks: Arc<Locks>,
    /// The time after which a lock counts as expired, in milliseconds.
    lease_ms: u64,
    timeouts: Timeouts,
}

struct Locks(Arc<Redis>);

fn found_in_words(found: &Option<String>) -> String {
    found.clone().unwrap_or_else(|| "nil".to_owned())
}

impl Locks {
    async fn now_ms(&self, key: &str, probe: &Probe) -> Result<u64, Error> {
        let words = |(s, us): &(u64, u64)| format!("{s}.{us:06}");
        let (s, us): (u64, u64) = probe.step(&TIME, &key, self.0.send(&cmd("TIME")), words).await?;
        Ok(s * 1_000 + us / 1_000)
    }

    async fn get(&self, step: &Step, key: &str, probe: &Probe) -> Result<Option<String>, Error> {
        let get = cmd("GET").arg(key).to_owned();
        probe.step(step, &key, self.0.send(&get), found_in_words).await
    }

    /// Deletes the lock if `owner` holds it. Nothing checks that it still does when the DEL arrives.
    async fn release(&self, key: &str, owner: &str, probe: &Probe) -> Result<bool, Error> {
        let found = self.get(&GET_OWNER, key, probe).await?;
        if found.as_deref().and_then(owner_of) != Some(owner) {
            return Ok(false);
        }
        let del = cmd("DEL").arg(key).to_owned();
        let words = |gone: &u64| format!("{gone} deleted");
        Ok(probe.step(&DEL, &key, self.0.send(&del), words).await? > 0)
    }
}

fn owner_of(value: &str) -> Option<&str> {
    value.split_once(',').map(|(owner, _)| owner)
}

enum Attempt {
    Taken,
    Held,
    /// The lock of this owner has expired.
    Over(String),
}

impl ExpiryValue {
    pub(super) fn open(world: &World, store: &'static str, lease_ms: u64) -> Result<Self, Error> {
        Ok(Self {
            locks: Arc::new(Locks(world.redis(store)?)),
            lease_ms,
            timeouts: world.timeouts,
        })
    }

    async fn attempt(&self, key: &str, me: &str, probe: &Probe) -> Result<Attempt, Error> {
        let now_ms = self.locks.now_ms(key, probe).await?;
        let over_at_ms = now_ms + self.lease_ms;
        let mut setnx = cmd("SETNX");
        setnx.arg(key).arg(format!("{me},{over_at_ms}"));
        if probe
            .step(&SETNX, &key, self.locks.0.send(&setnx), taken_or_held)
            .await?
        {
            return Ok(Attempt::Taken);
        }
        let found = self.locks.get(&GET, key, probe).await?;
        let held = found.as_deref().and_then(|found| found.split_once(','));
        Ok(match held {
            Some((owner, over_at_ms)) if over_at_ms.parse().is_ok_and(|over_at_ms: u64| over_at_ms < now_ms) => {
                Attempt::Over(owner.to_owned())
            }
            _ => Attempt::Held,
        })
    }

    /// Tries to take the lock, without a wait for its holder. After the release of an expired lock it tries again at
    /// once, until the wait of the purchase is over.
    pub(super) async fn try_lock(
        &self,
        item: &Name,
        wait: &Backoff,
        probe: &Probe,
    ) -> Result<Option<Box<dyn Held>>, Error> {
        let (key, me) = (lock_key(item), Uuid::new_v4().to_string());
        loop {
            match self.attempt(&key, &me, probe).await? {
                Attempt::Taken => {
                    let locks = self.locks.clone();
                    return Ok(Some(Box::new(HeldLock { locks, key, me })));
                }
                Attempt::Over(owner) => drop(self.locks.release(&key, &owner, probe).await?),
                Attempt::Held => return Ok(None),
            }
            if wait.is_over() {
                return Ok(None);
            }
        }
    }
}

#[async_trait]
impl Guard for ExpiryValue {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let mut backoff = self.timeouts.backoff();
        while backoff.again(item, probe).await {
            let held = self.try_lock(item, &backoff, probe).await?;
            if held.is_some() {
                return Ok(held);
            }
        }
        Ok(None)
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.locks.0.forget(&[lock_key(item)]).await
    }
}

struct HeldLock {
    locks: Arc<Locks>,
    key: String,
    me: String,
}

#[async_trait]
impl Held for HeldLock {
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        let released = self.locks.release(&self.key, &self.me, probe).await?;
        Ok(if released { Released::InTime } else { Released::TooLate })
    }
}
