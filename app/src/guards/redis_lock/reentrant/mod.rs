//! The lock without its renewal: who enters, who waits, and who is woken.

mod protocol;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout_at};
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use self::protocol::Protocol;
pub(in crate::guards) use self::protocol::{LOCK, RELEASE, RENEW};
use super::super::Released;
use super::super::lock_key::lock_key;
use super::wakeups::{self, Wakeups};
use crate::domain::{Error, Name};
use crate::probe::{Probe, Step};
use crate::stores::Redis;
use crate::timeouts::Timeouts;
use crate::world::World;

pub(in crate::guards) const WAIT: Step = Step::local("wait");

/// The channel on which the end of an item's lock is told.
fn released_channel(item: &Name) -> String {
    format!("released:{{{item}}}")
}

/// A lock that its owner may enter several times.
pub(in crate::guards) struct ReentrantLock {
    /// Begins the owner's name of each purchase: two instances, or one before and after a crash, are never the same owner.
    client: Uuid,
    protocol: Arc<Protocol>,
    wakeups: Arc<Wakeups>,
    timeouts: Timeouts,
    /// Ends with the guard.
    _listener: AbortOnDropHandle<()>,
}

impl ReentrantLock {
    pub(in crate::guards) fn open(world: &World) -> Result<Self, Error> {
        let redis = world.store::<Redis>()?;
        let (wakeups, listener) = wakeups::start(redis.clone(), world);
        Ok(Self {
            client: Uuid::new_v4(),
            protocol: Arc::new(Protocol::new(redis, world.timeouts.lease)),
            wakeups,
            timeouts: world.timeouts,
            _listener: listener,
        })
    }

    /// Waits until the lock is free, at most as long as a purchase waits.
    pub(in crate::guards) async fn enter(&self, item: &Name, probe: &Probe) -> Result<Option<Entered>, Error> {
        let deadline = Instant::now() + self.timeouts.wait;
        let (key, channel) = (lock_key(item), released_channel(item));
        let owner = format!("{}:{}", self.client, probe.actor().number());
        // Listening before the first attempt: a release in between cannot go unheard.
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
            // Nobody publishes the death of a holder; its lease ends by the clock alone.
            let woken = timeout_at(deadline.min(Instant::now() + left), waiting.woken());
            let words = |woken: &Result<(), Elapsed>| if woken.is_ok() { "woken" } else { "timed out" };
            let _ = probe.local(&WAIT, &channel, woken, words).await;
        }
    }

    pub(in crate::guards) async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.protocol.forget(&lock_key(item)).await
    }
}

/// A lock that was entered, until its lease ends.
#[derive(Clone)]
pub(in crate::guards) struct Entered {
    protocol: Arc<Protocol>,
    key: String,
    channel: String,
    owner: String,
}

impl Entered {
    /// How long it lasts without renewal.
    pub(in crate::guards) fn lease(&self) -> Duration {
        self.protocol.lease()
    }

    /// False when the lock is no longer its owner's.
    pub(in crate::guards) async fn renew(&self, probe: &Probe) -> Result<bool, Error> {
        self.protocol.renew(&self.key, &self.owner, probe).await
    }

    /// Leaves it once.
    pub(in crate::guards) async fn leave(&self, probe: &Probe) -> Result<Released, Error> {
        let left = self.protocol.release(&self.key, &self.channel, &self.owner, probe);
        Ok(match left.await? {
            Some(_) => Released::InTime,
            None => Released::TooLate,
        })
    }
}
