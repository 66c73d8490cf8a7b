//! Redisson's reentrant lock without its renewal: entering, waiting and waking.

mod protocol;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout_at};
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use self::protocol::Protocol;
pub(in crate::guards) use self::protocol::{IS_HELD, LOCK, RELEASE, RENEW};
use super::super::Released;
use super::super::lock_key::lock_key;
use super::wakeups::{self, Wakeups};
use crate::domain::{Error, Name};
use crate::probe::{Probe, Step};
use crate::timeouts::Timeouts;
use crate::world::World;

pub(in crate::guards) const WAIT: Step = Step::wait("wait");

/// Returns the channel on which releases of an item's lock are published.
fn released_channel(item: &Name) -> String {
    format!("released:{{{item}}}")
}

/// A lock that its owner may enter several times.
pub(in crate::guards) struct ReentrantLock {
    /// The prefix of the owner's names: two instances, or one before and after a crash, never share an owner.
    client: Uuid,
    protocol: Arc<Protocol>,
    wakeups: Arc<Wakeups>,
    timeouts: Timeouts,
    /// Stops when the guard is dropped.
    _listener: AbortOnDropHandle<()>,
}

impl ReentrantLock {
    pub(in crate::guards) fn open(world: &World, store: &'static str) -> Result<Self, Error> {
        let redis = world.redis(store)?;
        let (wakeups, listener) = wakeups::start(redis.clone(), world);
        Ok(Self {
            client: Uuid::new_v4(),
            protocol: Arc::new(Protocol::new(redis, world.timeouts.lease)),
            wakeups,
            timeouts: world.timeouts,
            _listener: listener,
        })
    }

    /// Takes the lock, and waits for it at most as long as a purchase waits. `None` when that time is over.
    pub(in crate::guards) async fn enter(&self, item: &Name, probe: &Probe) -> Result<Option<Entered>, Error> {
        let deadline = Instant::now() + self.timeouts.wait;
        let (key, channel) = (lock_key(item), released_channel(item));
        let owner = format!("{}:{}", self.client, probe.actor().number());
        // Listens before the first attempt, so that it misses no release.
        let waiting = self.wakeups.wait_at(&channel);
        loop {
            let Some(left) = self.protocol.lock(&key, &owner, probe).await? else {
                drop(waiting);
                return Ok(Some(Entered {
                    protocol: self.protocol.clone(),
                    key,
                    channel,
                    owner,
                }));
            };
            if Instant::now() >= deadline {
                return Ok(None);
            }
            // A dead holder publishes nothing: its lease ends by the clock alone.
            let woken = timeout_at(deadline.min(Instant::now() + left), waiting.woken());
            let words = |woken: &Result<(), Elapsed>| if woken.is_ok() { "woken" } else { "timed out" };
            let _ = probe.local(&WAIT, &channel, woken, words).await;
        }
    }

    pub(in crate::guards) async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.protocol.forget(&lock_key(item)).await
    }
}

/// An entered lock. It is valid until its lease ends.
#[derive(Clone)]
pub(in crate::guards) struct Entered {
    protocol: Arc<Protocol>,
    key: String,
    channel: String,
    owner: String,
}

impl Entered {
    /// The length of the lease.
    pub(in crate::guards) fn lease(&self) -> Duration {
        self.protocol.lease()
    }

    /// Renews the lease. False when the owner no longer holds the lock.
    pub(in crate::guards) async fn renew(&self, probe: &Probe) -> Result<bool, Error> {
        self.protocol.renew(&self.key, &self.owner, probe).await
    }

    /// Asks whether the owner holds the lock.
    pub(in crate::guards) async fn is_held(&self, probe: &Probe) -> Result<bool, Error> {
        self.protocol.is_held(&self.key, &self.owner, probe).await
    }

    /// Leaves the lock once.
    pub(in crate::guards) async fn leave(&self, probe: &Probe) -> Result<Released, Error> {
        let left = self.protocol.release(&self.key, &self.channel, &self.owner, probe);
        Ok(match left.await? {
            Some(_) => Released::InTime,
            None => Released::TooLate,
        })
    }
}
