//! `setnx` whose DEL stands at the end of the work and not in a `finally`: an error on the way there skips it.
//!
//! ```text
//! A: SETNX lock -> 1
//! A: read 1; write ... (the store fails, and the purchase ends with an error)
//!                     B: SETNX lock -> 0, and again, and again    -- nobody ever sells again
//! ```
//!
//! No process has to die for that: any error between SETNX and DEL is enough, though the lock's own store is well. A
//! buyer that is told sold out releases the lock: that is no error. Source: tutorial 004, its first lock.
//! Cost: two round trips, and one for each attempt while waiting.

use async_trait::async_trait;

use super::redis_lock::blind_del::DEL;
use super::setnx::{SETNX, Setnx};
use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::Probe;
use crate::timeouts::PAUSE;

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "setnx-no-finally",
        family: Family::LockWithoutLease,
        lesson: 3,
        summary: "SETNX, and a DEL that an error on the way skips",
        claims: Claims {
            broken_by: &["redis-restart", "redis-failover", "sql-restart", "sql-gone"],
            ..AS_FAMILY
        },
        weak_at: "write",
        needs: &["redis"],
        source: include_str!("setnx_no_finally.rs"),
    },
    steps: &[SETNX, PAUSE, DEL],
    reentrant: false,
    open: |world, store| Box::pin(async move { opened(SetnxNoFinally(Setnx::open(world, store)?)) }),
};

struct SetnxNoFinally(Setnx);

#[async_trait]
impl Guard for SetnxNoFinally {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let held = self.0.lock(item, probe).await?;
        Ok(held.map(|held| Box::new(HeldUntilTheEnd(held)) as Box<dyn Held>))
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.0.forget(item).await
    }
}

struct HeldUntilTheEnd(Box<dyn Held>);

#[async_trait]
impl Held for HeldUntilTheEnd {
    fn is_released_after_error(&self) -> bool {
        false
    }

    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        self.0.release(probe).await
    }
}
