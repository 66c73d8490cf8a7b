//! Redisson's `RLock.lock()`: a hash of owner to hold count, renewed while its holder lives, waiters woken by pub/sub.
//!
//! ```text
//! A: lock: HINCRBY lock a 1, PEXPIRE 1000; read 1    -- and PEXPIRE 1000 every third of the lease
//! (Redis loses the lock)                             -- a failover, a restart, a clock that jumps
//!                     B: lock: HINCRBY lock b 1, PEXPIRE 1000; read 1
//! A: write 0, order, commit    -- its renewal finds the lock gone, stops, and logs that
//!                     B: write 0, order    -- oversold
//! ```
//!
//! Long work keeps its lock, and a killed holder loses it after one lease. Source: Redisson and tutorial 004. As there
//! (its issues 775 and 4698), nothing tells a holder before the write that the lock is lost; its `unlock()` throws
//! afterwards. `watchdog-checked` asks. `lock()` waits without end; here a purchase gives up after the shop's wait, as
//! with `tryLock()`. A renewal that fails is tried again, as in newer versions of Redisson; older ones stop. Cost: two
//! round trips, one more for each wake-up, one per third of a lease.

use async_trait::async_trait;
use tokio_util::task::AbortOnDropHandle;

use super::redis_lock::reentrant::{Entered, LOCK, RELEASE, RENEW, ReentrantLock, WAIT};
use super::redis_lock::wakeups::{PING, RECEIVE, SUBSCRIBE};
use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::Probe;
use crate::world::World;

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "watchdog",
        family: Family::LeaseLock,
        lesson: 5,
        summary: "Redisson's lock: reentrant hash, renewal every third of the lease, pub/sub wake-up",
        claims: Claims {
            survives: &["slow-holder", "sql-restart", "sql-gone"],
            ..AS_FAMILY
        },
        weak_at: "write",
        needs: &["redis"],
        source: include_str!("watchdog.rs"),
    },
    steps: &[LOCK, WAIT, RENEW, RELEASE, SUBSCRIBE, RECEIVE, PING],
    reentrant: true,
    open: |world, store| Box::pin(async move { opened(Watchdog::open(world, store)?) }),
};

pub(super) struct Watchdog(ReentrantLock);

impl Watchdog {
    pub(super) fn open(world: &World, store: &'static str) -> Result<Self, Error> {
        Ok(Self(ReentrantLock::open(world, store)?))
    }

    /// Takes the lock and starts its renewal. `None` when it was not free in time.
    pub(super) async fn enter(&self, item: &Name, probe: &Probe) -> Result<Option<Lease>, Error> {
        let entered = self.0.enter(item, probe).await?;
        Ok(entered.map(|entered| Lease::new(entered, probe.of_renewal())))
    }
}

#[async_trait]
impl Guard for Watchdog {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let lease = self.enter(item, probe).await?;
        Ok(lease.map(|lease| Box::new(lease) as Box<dyn Held>))
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.0.forget(item).await
    }
}

/// A held lock and the task that renews it. The renewal stops when its holder is gone.
pub(super) struct Lease {
    entered: Entered,
    renewal: AbortOnDropHandle<()>,
}

impl Lease {
    fn new(entered: Entered, probe: Probe) -> Self {
        let renewal = AbortOnDropHandle::new(tokio::spawn(renew(entered.clone(), probe)));
        Self { entered, renewal }
    }

    /// Asks Redis whether the holder still has the lock.
    pub(super) async fn is_held(&self, probe: &Probe) -> Result<bool, Error> {
        self.entered.is_held(probe).await
    }
}

async fn renew(entered: Entered, probe: Probe) {
    loop {
        probe.time().sleep(entered.lease() / 3).await;
        match entered.renew(&probe).await {
            Ok(true) => {}
            Ok(false) => return tracing::warn!("the lock is gone, and its renewal stops"),
            // The lock may still be held: the next renewal will tell.
            Err(error) => tracing::warn!(%error, "the lease was not renewed"),
        }
    }
}

#[async_trait]
impl Held for Lease {
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        self.renewal.abort();
        self.entered.leave(probe).await
    }
}
