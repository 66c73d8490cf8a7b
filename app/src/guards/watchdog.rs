//! Redisson's lock: a hash of owner to hold count, renewed while its holder lives, waiters woken by pub/sub.
//!
//! ```text
//! A: HINCRBY lock a 1, PEXPIRE 1000
//!                     B: lock -> 700 ms left; waits for a message, at most that long
//! A: PEXPIRE 1000 (every third of the lease, for as long as the work takes)
//! A: HINCRBY lock a -1 -> 0: DEL, PUBLISH
//!                     B: woken; lock -> OK
//! ```
//!
//! Long work keeps its lock. A killed holder loses it after one lease. A holder that is paused, with its renewals, for
//! longer than the lease is not protected. Cost: two round trips, one more for each wake-up, one per third of a lease.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::redis_lock::reentrant::{Entered, LOCK, RELEASE, RENEW, ReentrantLock, WAIT};
use super::redis_lock::wakeups::{PING, RECEIVE, SUBSCRIBE};
use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::Probe;

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "watchdog",
        family: Family::LeaseLock,
        lesson: 5,
        summary: "Redisson's lock: reentrant hash, renewal every third of the lease, pub/sub wake-up",
        claims: Claims {
            survives: &["slow-holder", "clock-jump", "redis-restart", "redis-failover"],
            ..AS_FAMILY
        },
        weak_at: "write",
        needs: &["redis"],
        source: include_str!("watchdog.rs"),
    },
    steps: &[LOCK, WAIT, RENEW, RELEASE, SUBSCRIBE, RECEIVE, PING],
    reentrant: true,
    open: |world| Box::pin(async { opened(Watchdog(ReentrantLock::open(world)?)) }),
};

struct Watchdog(ReentrantLock);

#[async_trait]
impl Guard for Watchdog {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let entered = self.0.enter(item, probe).await?;
        Ok(entered.map(|entered| Box::new(Lease::new(entered, probe.of_renewal())) as Box<dyn Held>))
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.0.forget(item).await
    }
}

/// A held lock and the task that renews it.
struct Lease {
    entered: Entered,
    lost: Arc<AtomicBool>,
    renewal: JoinHandle<()>,
}

impl Lease {
    fn new(entered: Entered, probe: Probe) -> Self {
        let lost = Arc::new(AtomicBool::new(false));
        let renewal = tokio::spawn(renew(entered.clone(), lost.clone(), probe));
        Self { entered, lost, renewal }
    }
}

async fn renew(entered: Entered, lost: Arc<AtomicBool>, probe: Probe) {
    loop {
        sleep(entered.lease() / 3).await;
        match entered.renew(&probe).await {
            Ok(true) => {}
            Ok(false) => return lost.store(true, Ordering::Relaxed),
            // The lock may still be held: the next renewal will tell.
            Err(error) => tracing::warn!(%error, "the lease was not renewed"),
        }
    }
}

impl Drop for Lease {
    /// Stops the renewal when its holder is gone.
    fn drop(&mut self) {
        self.renewal.abort();
    }
}

#[async_trait]
impl Held for Lease {
    async fn before_write(&mut self, _probe: &Probe) -> Result<bool, Error> {
        Ok(!self.lost.load(Ordering::Relaxed))
    }

    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        self.renewal.abort();
        let released = self.entered.leave(probe).await?;
        Ok(if self.lost.load(Ordering::Relaxed) {
            Released::TooLate
        } else {
            released
        })
    }
}
