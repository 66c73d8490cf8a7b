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
//! Long work keeps its lock, a killed holder loses it after one lease. A holder that is paused, with its renewals, for
//! longer than the lease is not protected. Cost: two round trips, one more for each wake-up, one per third of a lease.

mod protocol;
mod wakeups;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use tokio::task::JoinHandle;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, sleep, timeout_at};
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use self::protocol::{LOCK, Protocol, RELEASE, RENEW};
use self::wakeups::{PING, RECEIVE, SUBSCRIBE, Wakeups};
use super::{Guard, GuardEntry, Held, Released, lock_key, opened};
use crate::mechanism::{Family, Mechanism};
use crate::probe::{Probe, Step};
use crate::sale::{Error, Name};
use crate::stores::Redis;
use crate::timeouts::Timeouts;
use crate::world::World;

const WAIT: Step = Step::local("wait");

/// The channel on which the end of an item's lock is told.
fn released_channel(item: &Name) -> String {
    format!("released:{{{item}}}")
}

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "watchdog",
        family: Family::LeaseLock,
        lesson: 5,
        summary: "Redisson's lock: reentrant hash, renewal every third of the lease, pub/sub wake-up",
        claims: &["crowd", "second-instance", "crashed-holder"],
        broken_by: &["paused-holder"],
        weak_at: "write",
        needs: &["redis"],
        source: include_str!("mod.rs"),
    },
    steps: &[LOCK, WAIT, RENEW, RELEASE, SUBSCRIBE, RECEIVE, PING],
    reentrant: true,
    open: |world| Box::pin(async { opened(Watchdog::open(world)?) }),
};

struct Watchdog {
    /// Begins the owner's name of each purchase: two instances, or one before and after a crash, are never the same owner.
    client: Uuid,
    protocol: Arc<Protocol>,
    wakeups: Arc<Wakeups>,
    timeouts: Timeouts,
    /// Ends with the guard.
    _listener: AbortOnDropHandle<()>,
}

impl Watchdog {
    fn open(world: &World) -> Result<Self, Error> {
        let redis = world.store::<Redis>()?;
        let wakeups = Arc::<Wakeups>::default();
        let (heard_from, heard_by) = (redis.clone(), wakeups.clone());
        Ok(Self {
            client: Uuid::new_v4(),
            protocol: Arc::new(Protocol::new(redis, world.timeouts.lease)),
            wakeups,
            timeouts: world.timeouts,
            _listener: world.start("listener", |probe| wakeups::listen(heard_from, heard_by, probe)),
        })
    }

    async fn take(&self, item: &Name, probe: &Probe) -> Result<Option<Lease>, Error> {
        let deadline = Instant::now() + self.timeouts.wait;
        let (key, channel) = (lock_key(item), released_channel(item));
        let owner = format!("{}:{}", self.client, probe.actor().number());
        // Listening before the first attempt: a release in between cannot go unheard.
        let waiting = self.wakeups.wait_at(&channel);
        loop {
            let Some(left) = self.protocol.lock(&key, &owner, probe).await? else {
                let lease = Lease::new(self.protocol.clone(), item, owner, probe.of_renewal());
                return Ok(Some(lease));
            };
            if Instant::now() >= deadline {
                return Ok(None);
            }
            // Nobody publishes the death of a holder; its lease ends by the clock alone.
            let woken = timeout_at(deadline.min(Instant::now() + left), waiting.woken());
            let words = |woken: &Result<(), Elapsed>| if woken.is_ok() { "woken" } else { "timed out" };
            let _ = probe.local(&WAIT, &channel, woken, words).await;
        }
    }
}

#[async_trait]
impl Guard for Watchdog {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let lease = self.take(item, probe).await?;
        Ok(lease.map(|lease| Box::new(lease) as Box<dyn Held>))
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.protocol.forget(&lock_key(item)).await
    }
}

/// A held lock and the task that renews it.
struct Lease {
    protocol: Arc<Protocol>,
    key: String,
    channel: String,
    owner: String,
    lost: Arc<AtomicBool>,
    renewal: JoinHandle<()>,
}

impl Lease {
    fn new(protocol: Arc<Protocol>, item: &Name, owner: String, probe: Probe) -> Self {
        let key = lock_key(item);
        let lost = Arc::new(AtomicBool::new(false));
        let renewal = tokio::spawn(renew(protocol.clone(), key.clone(), owner.clone(), lost.clone(), probe));
        Self {
            channel: released_channel(item),
            protocol,
            key,
            owner,
            lost,
            renewal,
        }
    }
}

async fn renew(protocol: Arc<Protocol>, key: String, owner: String, lost: Arc<AtomicBool>, probe: Probe) {
    loop {
        sleep(protocol.lease() / 3).await;
        match protocol.renew(&key, &owner, &probe).await {
            Ok(true) => {}
            Ok(false) => return lost.store(true, Ordering::Relaxed),
            // A lock that could not be renewed may still be ours: the next third of the lease will tell.
            Err(error) => tracing::warn!(%error, "the lease was not renewed"),
        }
    }
}

impl Drop for Lease {
    /// Nobody renews for a holder that has gone.
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
        let left = self
            .protocol
            .release(&self.key, &self.channel, &self.owner, probe)
            .await?;
        Ok(if left.is_none() || self.lost.load(Ordering::Relaxed) {
            Released::TooLate
        } else {
            Released::InTime
        })
    }
}
