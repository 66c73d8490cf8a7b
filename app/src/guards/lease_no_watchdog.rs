//! Redisson's lock with a fixed lease that is never renewed: a reentrant hash, waiters woken by pub/sub.
//!
//! ```text
//! A: lock: HINCRBY lock a 1, PEXPIRE 1000
//! A: read 1
//! (the lease ends)
//!                     B: lock: HINCRBY lock b 1, PEXPIRE 1000
//!                     B: read 1
//! A: write 0, order
//!                     B: write 0, order    -- oversold
//! A: release: HEXISTS lock a -> 0     -- only now A learns of it
//! ```
//!
//! It survives a killed holder, and any holder that finishes before its lease ends.
//! Cost: two round trips, and one more for each wake-up.

use async_trait::async_trait;

use super::redis_lock::reentrant::{Entered, LOCK, RELEASE, ReentrantLock, WAIT};
use super::redis_lock::wakeups::{PING, RECEIVE, SUBSCRIBE};
use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::Probe;

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "lease-no-watchdog",
        family: Family::LeaseLock,
        lesson: 4,
        summary: "Redisson's lock with a fixed lease: reentrant hash, pub/sub wake-up, no renewal",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &["redis"],
        source: include_str!("lease_no_watchdog.rs"),
    },
    steps: &[LOCK, WAIT, RELEASE, SUBSCRIBE, RECEIVE, PING],
    reentrant: true,
    open: |world, store| Box::pin(async move { opened(LeaseNoWatchdog(ReentrantLock::open(world, store)?)) }),
};

struct LeaseNoWatchdog(ReentrantLock);

#[async_trait]
impl Guard for LeaseNoWatchdog {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let entered = self.0.enter(item, probe).await?;
        Ok(entered.map(|entered| Box::new(entered) as Box<dyn Held>))
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.0.forget(item).await
    }
}

#[async_trait]
impl Held for Entered {
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        self.leave(probe).await
    }
}
