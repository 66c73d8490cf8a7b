//! A mutex in the memory of one process.
//!
//! ```text
//! A: lock its mutex
//!                     B: lock its own mutex    -- in another instance, another mutex: nobody waits
//! A: read 1
//!                     B: read 1
//! A: write 0, order
//!                     B: write 0, order        -- oversold
//! ```
//!
//! Exact on one instance. Source: tutorial 004, whose one lock is for all items and waits without end; here an item has
//! one of 256 mutexes, and a purchase waits as long as the shop lets it. Cost: no round trip.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::OwnedMutexGuard;
use tokio::time::timeout;

use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Probe, Role, Step, StepValue};
use crate::timeouts::Timeouts;

/// Items share this many mutexes, so that memory does not grow with the number of item names.
const STRIPES: usize = 256;

const LOCK: Step = Step::wait("lock").plays(Role::Lock);
const UNLOCK: Step = Step::local("unlock").plays(Role::Release);

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "mutex",
        family: Family::ProcessLock,
        lesson: 2,
        summary: "a mutex in the memory of each instance",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("mutex.rs"),
    },
    steps: &[LOCK, UNLOCK],
    reentrant: false,
    open: |world, _| Box::pin(async { opened(Mutex::new(world.timeouts)) }),
};

struct Mutex {
    stripes: Vec<Arc<tokio::sync::Mutex<()>>>,
    hasher: RandomState,
    timeouts: Timeouts,
}

impl Mutex {
    fn new(timeouts: Timeouts) -> Self {
        Self {
            stripes: (0..STRIPES).map(|_| Arc::default()).collect(),
            hasher: RandomState::new(),
            timeouts,
        }
    }
}

#[async_trait]
impl Guard for Mutex {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let stripe = self.hasher.hash_one(item) as usize % STRIPES;
        let guard = timeout(self.timeouts.wait, self.stripes[stripe].clone().lock_owned());
        let guard = probe
            .local(&LOCK, item, guard, |guard| StepValue::Taken(guard.is_ok()))
            .await;
        let item = item.clone();
        Ok(guard
            .ok()
            .map(|guard| Box::new(HeldLock { guard, item }) as Box<dyn Held>))
    }
}

struct HeldLock {
    guard: OwnedMutexGuard<()>,
    item: Name,
}

#[async_trait]
impl Held for HeldLock {
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        let Self { guard, item } = *self;
        probe
            .local(&UNLOCK, &item, async { drop(guard) }, |()| "unlocked")
            .await;
        Ok(Released::InTime)
    }
}
