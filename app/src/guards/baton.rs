//! A lock that its holder hands to the next waiter: the release script names the next holder and sends it a message.
//!
//! ```text
//! A: acquire -> owner, fence 33
//!                     B: acquire -> place 0 in the queue; waits for a message
//! A: read (last fence 32); write where fence = 32, order
//! A: release      -- one script: B is the owner, fence 34; PUBLISH to B's process
//!                     B: woken; read (last fence 33)     -- B's writes need fence = 33
//! ```
//!
//! Waiters are served first come, first served, and no waiter is woken only to race. The lease can end while its holder
//! works, as with every lease: then the store refuses the older fence, and a write after another's, as with `fenced`.
//! In a cluster the message goes over a channel in the slot of the item (SPUBLISH), to which a waiter subscribes first.
//! Cost: two round trips, one for a handoff; a renewal each third of a lease.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use baton::{Baton, Hook, Operation, PendingOperation, Settings};

use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Fence, Name};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step, StepResult, StepValue};
use crate::stores::{Redis, Store};
use crate::world::World;

const ACQUIRE: Step = Step::command("acquire", &["EVALSHA"])
    .writes(Data::LOCK)
    .plays(Role::Lock);
/// When it ends, the waiter holds the lock.
const WAIT: Step = Step::wait("wait").plays(Role::Lock);
const RELEASE: Step = Step::command("release", &["EVALSHA"])
    .writes(Data::LOCK)
    .plays(Role::Release);
const RENEW: Step = Step::command("renew", &["EVALSHA"])
    .writes(Data::LOCK)
    .plays(Role::Renew);
const SUBSCRIBE: Step = Step::command("subscribe", &["SUBSCRIBE"]).reads(Data::NONE);
/// In a cluster: the channel of the item, in its slot.
const SHARD_SUBSCRIBE: Step = Step::command("shard-subscribe", &["SSUBSCRIBE"]).reads(Data::NONE);
const SHARD_UNSUBSCRIBE: Step = Step::command("shard-unsubscribe", &["SUNSUBSCRIBE"]).reads(Data::NONE);
const RECEIVE: Step = Step::wait("receive");
const PING: Step = Step::command("ping", &["PING"]).reads(Data::NONE);

/// How long a lock lives before its first renewal, in parts of its lease: 300 ms of a second. A handoff to a dead waiter
/// delays the others by this long.
const GRACE: f64 = 0.3;

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "baton",
        family: Family::LeaseLock,
        lesson: 6,
        summary: "the release hands the lock to the first waiter in the queue, with a fencing token",
        claims: Claims {
            survives: &[
                "slow-holder",
                "clock-jump",
                "paused-holder",
                "blocked-runtime",
                "redis-restart-aof",
                "redis-power-loss-synced",
                "redis-restart",
                "redis-failover",
                "sql-restart",
                "sql-gone",
                "store-silent",
                "instance-cut-off",
                "node-cut-off",
            ],
            broken_by: &["redis-restart-clock-back"],
            ..AS_FAMILY
        },
        weak_at: "write",
        needs: &["redis"],
        source: include_str!("baton.rs"),
    },
    steps: &[
        ACQUIRE,
        WAIT,
        RELEASE,
        RENEW,
        SUBSCRIBE,
        SHARD_SUBSCRIBE,
        SHARD_UNSUBSCRIBE,
        RECEIVE,
        PING,
    ],
    reentrant: false,
    open: |world, store| Box::pin(open(world, store)),
};

async fn open(world: &World, store: &'static str) -> Result<Arc<dyn Guard>, Error> {
    let settings = Settings {
        lease: world.timeouts.lease,
        grace: world.timeouts.lease.mul_f64(GRACE),
        hook: Some(Arc::new(Seam(Probe::of_worker("baton", world.observers.clone())))),
        ..Settings::default()
    };
    let redis = world.redis(store)?;
    opened(Handed {
        baton: redis.baton(settings).await?,
        redis,
        wait: world.timeouts.wait,
    })
}

struct Handed {
    baton: Baton,
    redis: Arc<Redis>,
    wait: Duration,
}

#[async_trait]
impl Guard for Handed {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let seam = Seam(probe.clone());
        let held = self.baton.lock_within(item.as_str(), self.wait, Some(&seam)).await?;
        Ok(held.map(|held| Box::new(HeldLock(held)) as Box<dyn Held>))
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.redis.forget(&Baton::keys(item.as_str())).await
    }
}

struct HeldLock(baton::Held);

#[async_trait]
impl Held for HeldLock {
    fn fence(&self) -> Option<Fence> {
        Some(Fence(self.0.fence()))
    }

    async fn before_write(&mut self, _probe: &Probe) -> Result<bool, Error> {
        Ok(!self.0.is_lost())
    }

    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        Ok(match self.0.release_observed(&Seam(probe.clone())).await? {
            baton::Released::InTime => Released::InTime,
            baton::Released::TooLate => Released::TooLate,
        })
    }
}

/// Passes every operation of the library through the probe.
struct Seam(Probe);

impl Hook for Seam {
    fn run<'a>(&'a self, operation: Operation, key: &'a str, pending: PendingOperation<'a>) -> PendingOperation<'a> {
        let step = match operation {
            Operation::Acquire => &ACQUIRE,
            Operation::Wait => &WAIT,
            Operation::Release => &RELEASE,
            Operation::Renew => &RENEW,
            Operation::Subscribe => &SUBSCRIBE,
            Operation::ShardSubscribe => &SHARD_SUBSCRIBE,
            Operation::ShardUnsubscribe => &SHARD_UNSUBSCRIBE,
            Operation::Receive => &RECEIVE,
            Operation::Ping => &PING,
        };
        let probe = match (operation, Name::parse(key)) {
            (Operation::Release | Operation::Renew, Ok(item)) => self.0.about(&item),
            _ => self.0.clone(),
        };
        Box::pin(async move {
            probe
                .local(step, &key, pending, |summary| match summary.fence() {
                    Some(fence) => StepValue::Fence(fence).into(),
                    None => StepResult::from(summary.text().to_owned()),
                })
                .await
        })
    }
}

impl From<baton::Error> for Error {
    fn from(error: baton::Error) -> Self {
        match error {
            baton::Error::Redis(error) => error.into(),
            baton::Error::Setting(_) => Error::failed(Redis::NAME, error),
        }
    }
}
