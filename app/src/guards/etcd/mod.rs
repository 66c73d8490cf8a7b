//! etcd's lock: each purchase puts a key under its own lease; the key with the lowest create revision has the lock.
//!
//! ```text
//! A: lease of 1 s; put lock/a under it -> revision 7; the oldest key is 7: A has the lock
//!                     B: lease; put lock/b -> revision 8; the key before it is 7: watches lock/a only
//! A: renews the lease every third of it ... revokes it, or dies and it ends: lock/a is deleted
//!                     B: woken; no key is before 8, and lock/b still exists: B has the lock
//! ```
//!
//! Without that last check, a waiter whose lease has ended in the queue would enter, too. The lease can end while its
//! holder is paused: then both write.
//! Cost: three round trips, one more per third of the lease, and four for each predecessor.

mod gateway;
mod json;
mod lease;
mod protocol;

use std::sync::Arc;

use async_trait::async_trait;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout_at};

use self::lease::Lease;
use self::protocol::{CHECK, GRANT, PREDECESSOR, PUT, Protocol, RENEW, REVOKE, WATCH};
use super::lock_key::lock_key;
use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::{Probe, Step};
use crate::timeouts::Timeouts;
use crate::world::World;

/// The name of the service.
const SERVICE: &str = "etcd";

const WAIT: Step = Step::local("wait");

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "etcd",
        family: Family::LeaseLock,
        lesson: 7,
        summary: "lease and create-revision order in etcd, watching the predecessor only",
        claims: Claims {
            survives: &["slow-holder", "clock-jump", "redis-restart", "redis-failover"],
            ..AS_FAMILY
        },
        weak_at: "write",
        needs: &[SERVICE],
        source: include_str!("mod.rs"),
    },
    steps: &[GRANT, PUT, PREDECESSOR, WATCH, WAIT, CHECK, RENEW, REVOKE],
    reentrant: false,
    open: |world| Box::pin(async { opened(Etcd::open(world)?) }),
};

struct Etcd {
    protocol: Arc<Protocol>,
    timeouts: Timeouts,
}

impl Etcd {
    fn open(world: &World) -> Result<Self, Error> {
        let urls = world.services.urls(SERVICE)?;
        Ok(Self {
            protocol: Arc::new(Protocol::new(urls)?),
            timeouts: world.timeouts,
        })
    }

    /// Waits until no key is older than `revision`. False when the deadline passes first.
    async fn is_first(&self, prefix: &str, revision: u64, deadline: Instant, probe: &Probe) -> Result<bool, Error> {
        while let Some(before) = self.protocol.predecessor(prefix, revision, probe).await? {
            let mut watch = self.protocol.watch(&before, probe).await?;
            let going = timeout_at(deadline, watch.deleted());
            let words = |gone: &Result<_, Elapsed>| if gone.is_ok() { "woken" } else { "timed out" };
            let woken = probe.local(&WAIT, &before.key, going, words).await;
            woken.unwrap_or(Ok(()))?;
            if Instant::now() >= deadline {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

#[async_trait]
impl Guard for Etcd {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let deadline = Instant::now() + self.timeouts.wait;
        let prefix = prefix(item);
        let lease = Lease::granted(self.protocol.clone(), self.timeouts.lease, &prefix, probe).await?;
        let (key, id) = (format!("{prefix}{:x}", lease.id()), lease.id());
        let put = self.protocol.put(&prefix, &key, id, probe).await?;
        if put.is_first {
            return Ok(Some(Box::new(HeldLock { lease })));
        }
        if self.is_first(&prefix, put.revision, deadline, probe).await? && self.protocol.is_there(&key, probe).await? {
            return Ok(Some(Box::new(HeldLock { lease })));
        }
        lease.revoke(probe).await?;
        Ok(None)
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.protocol.forget(&prefix(item)).await
    }
}

/// Returns the prefix of the keys that compete for the lock of `item`.
fn prefix(item: &Name) -> String {
    format!("{}/", lock_key(item))
}

/// The lock, held by the oldest key.
struct HeldLock {
    lease: Lease,
}

#[async_trait]
impl Held for HeldLock {
    async fn before_write(&mut self, _probe: &Probe) -> Result<bool, Error> {
        Ok(self.lease.is_kept())
    }

    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        Ok(match self.lease.revoke(probe).await? {
            true => Released::InTime,
            false => Released::TooLate,
        })
    }
}
