//! `watchdog`, whose holder asks before the write whether it still has the lock: `RLock.isHeldByCurrentThread()`.
//!
//! ```text
//! A: lock: HINCRBY lock a 1, PEXPIRE 1000; read 1; HEXISTS lock a -> 1
//! (Redis loses the lock)
//!                     B: lock: HINCRBY lock b 1, PEXPIRE 1000; read 1; HEXISTS lock b -> 1
//! A: write 0, order, commit
//!                     B: write 0, order    -- oversold
//! ```
//!
//! It notices a loss before the question: the answer is 0, and the buyer is told busy. A loss or a pause between the
//! question and the write is not noticed, and no lock of this kind can: only a fence at the store does (`fenced`).
//! Cost: three round trips, one more for each wake-up, one per third of a lease.

use async_trait::async_trait;

use super::redis_lock::reentrant::{IS_HELD, LOCK, RELEASE, RENEW, WAIT};
use super::redis_lock::wakeups::{PING, RECEIVE, SUBSCRIBE};
use super::watchdog::{Lease, Watchdog};
use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::Probe;
use crate::stores::{Redis, Store};

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "watchdog-checked",
        family: Family::LeaseLock,
        lesson: 5,
        summary: "Redisson's lock, and a question to Redis before the write whether it is still held",
        claims: Claims {
            survives: &["slow-holder", "sql-restart", "sql-gone"],
            ..AS_FAMILY
        },
        weak_at: "write",
        needs: &["redis"],
        source: include_str!("watchdog_checked.rs"),
    },
    steps: &[LOCK, WAIT, RENEW, IS_HELD, RELEASE, SUBSCRIBE, RECEIVE, PING],
    reentrant: true,
    open: |world, store| Box::pin(async move { opened(WatchdogChecked(Watchdog::open(world, store)?)) }),
};

struct WatchdogChecked(Watchdog);

#[async_trait]
impl Guard for WatchdogChecked {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let lease = self.0.enter(item, probe).await?;
        Ok(lease.map(|lease| Box::new(CheckedLease(lease)) as Box<dyn Held>))
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.0.forget(item).await
    }
}

struct CheckedLease(Lease);

#[async_trait]
impl Held for CheckedLease {
    /// Without an answer the holder does not know, so it does not write.
    async fn before_write(&mut self, probe: &Probe) -> Result<bool, Error> {
        let held = self.0.is_held(probe).await;
        held.map_err(|error| Error::given_up(Redis::NAME, &error))
    }

    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        Box::new(self.0).release(probe).await
    }
}
