//! A fair lock: a purchase that finds it taken joins a queue, and only the first in the queue may take the lock.
//!
//! ```text
//! A: lock -> taken; read 2
//!                     B: lock -> place 1
//! A: write 1, order; release-to-next    -- B is the next, and gets a message
//!                     C: lock -> place 2, although the lock is free
//!                     B: woken; lock -> taken
//! ```
//!
//! Waiters are served first come, first served, and each release wakes one. Source: Redisson's `getFairLock()`. Ours: a
//! waiter tries again every third of a lease. One that stops loses its place after one lease by the clock of Redis,
//! which delays the others; there after five minutes, by the clients' clocks. It is not reentrant, and the lease of the
//! holder is not renewed: a holder that outlives it is not protected. Cost: two round trips, and while waiting one for
//! each third of a lease and one for each wake-up.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use redis::Script;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout_at};
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use super::lock_key::lock_key;
use super::redis_lock::wakeups::{self, PING, RECEIVE, SUBSCRIBE, Wakeups};
use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step, StepValue};
use crate::stores::Redis;
use crate::timeouts::Timeouts;
use crate::world::World;

const LOCK: Step = Step::command("lock-or-queue", &["EVALSHA"])
    .writes(Data::LOCK)
    .plays(Role::Lock);
const WAIT: Step = Step::wait("wait");
const LEAVE: Step = Step::command("leave-queue", &["EVALSHA"]).writes(Data::LOCK);
const RELEASE: Step = Step::command("release-to-next", &["EVALSHA"])
    .writes(Data::LOCK)
    .plays(Role::Release);

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "fair",
        family: Family::LeaseLock,
        lesson: 5,
        summary: "a queue in Redis: a release wakes the first waiter, and only that one may take the lock",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &["redis"],
        source: include_str!("mod.rs"),
    },
    steps: &[LOCK, WAIT, LEAVE, RELEASE, SUBSCRIBE, RECEIVE, PING],
    reentrant: false,
    open: |world, store| Box::pin(async move { opened(Fair::open(world, store)?) }),
};

struct Fair {
    scripts: Arc<Scripts>,
    wakeups: Arc<Wakeups>,
    timeouts: Timeouts,
    /// Stops when the guard is dropped.
    _listener: AbortOnDropHandle<()>,
}

/// The scripts, and the server that runs them.
struct Scripts {
    redis: Arc<Redis>,
    lock: Script,
    leave: Script,
}

impl Fair {
    fn open(world: &World, store: &'static str) -> Result<Self, Error> {
        let redis = world.redis(store)?;
        let (wakeups, listener) = wakeups::start(redis.clone(), world);
        Ok(Self {
            scripts: Arc::new(Scripts {
                redis,
                lock: Script::new(include_str!("lock.lua")),
                leave: Script::new(include_str!("leave.lua")),
            }),
            wakeups,
            timeouts: world.timeouts,
            _listener: listener,
        })
    }
}

/// The keys of the lock, of the queue in order of arrival, and of the times until which its waiters count as alive.
fn keys(item: &Name) -> [String; 3] {
    [
        lock_key(item),
        format!("queue:{{{item}}}"),
        format!("queue-alive:{{{item}}}"),
    ]
}

/// Returns the prefix of the channels of an item's waiters.
fn channels(item: &Name) -> String {
    format!("released:{{{item}}}:")
}

#[async_trait]
impl Guard for Fair {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let deadline = Instant::now() + self.timeouts.wait;
        let held = HeldLock {
            scripts: self.scripts.clone(),
            item: item.clone(),
            owner: Uuid::new_v4().to_string(),
        };
        let channel = channels(item) + &held.owner;
        // Listens before the first attempt, so that it misses no release.
        let waiting = self.wakeups.wait_at(&channel);
        while let Some(again) = held.take(self.timeouts.lease, probe).await? {
            if Instant::now() >= deadline {
                held.leave(&LEAVE, probe).await?;
                return Ok(None);
            }
            let woken = timeout_at(deadline.min(Instant::now() + again), waiting.woken());
            let words = |woken: &Result<(), Elapsed>| if woken.is_ok() { "woken" } else { "timed out" };
            let _ = probe.local(&WAIT, &channel, woken, words).await;
        }
        drop(waiting);
        Ok(Some(Box::new(held)))
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.scripts.redis.forget(&keys(item)).await
    }
}

/// A lock that is held, or a place in its queue.
struct HeldLock {
    scripts: Arc<Scripts>,
    item: Name,
    owner: String,
}

impl HeldLock {
    /// Takes the lock: `None`. Otherwise keeps the place in the queue, and returns the pause before the next attempt.
    async fn take(&self, lease: Duration, probe: &Probe) -> Result<Option<Duration>, Error> {
        let mut call = self.scripts.lock.prepare_invoke();
        call.key(&keys(&self.item)).key(channels(&self.item));
        call.arg(&self.owner).arg(lease.as_millis() as u64);
        let words = |again_ms: &Option<u64>| StepValue::Taken(again_ms.is_none());
        let again_ms = probe.step(&LOCK, &self.item, self.scripts.redis.run(&call), words);
        Ok(again_ms.await?.map(Duration::from_millis))
    }

    /// Releases the lock or gives up the place in the queue. True when it held the lock.
    async fn leave(&self, step: &Step, probe: &Probe) -> Result<bool, Error> {
        let mut call = self.scripts.leave.prepare_invoke();
        call.key(&keys(&self.item)).key(channels(&self.item)).arg(&self.owner);
        let words = |was_held: &bool| if *was_held { "released" } else { "not held" };
        probe.step(step, &self.item, self.scripts.redis.run(&call), words).await
    }
}

#[async_trait]
impl Held for HeldLock {
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        Ok(if self.leave(&RELEASE, probe).await? {
            Released::InTime
        } else {
            Released::TooLate
        })
    }
}
