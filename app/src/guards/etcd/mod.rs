//! etcd's lock: the oldest key under a prefix has the lock. All keys of an instance end with its session, a lease.
//!
//! ```text
//! A: (session: a lease of 1 s, renewed every third of it) put lock/a -> revision 7, the oldest: has the lock; read 1
//!                     B: put lock/b -> revision 8; the key before it is 7: watches lock/a only
//! (no message of A's instance reaches etcd for longer than the lease: lock/a is deleted)
//!                     B: woken; no key is before 8, and lock/b still exists: has the lock; read 1
//! A: write 0, order
//!                     B: write 0, order    -- oversold
//! ```
//!
//! It follows `Mutex` of etcd's Go client (client/v3/concurrency), but for the key: there it is the session's, so that
//! two purchases of one session share it (`etcd-same-session`); here each purchase has its own. A key that outlives its
//! purchase stops the sale for as long as the session lives. Nothing asks before the write: `etcd-checked` does.
//! Cost: two round trips, four for each predecessor, one per third of the lease for all purchases of the instance.

mod gateway;
mod json;
mod place;
mod protocol;
mod session;

use std::sync::Arc;

use async_trait::async_trait;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use self::place::Place;
use self::protocol::Protocol;
pub(super) use self::protocol::{CHECK, DELETE, GRANT, IS_OWNER, PREDECESSOR, PUT, RENEW, WATCH};
use self::session::Sessions;
use super::lock_key::lock_key;
use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::{Probe, Step};
use crate::timeouts::Timeouts;
use crate::world::World;

/// The name of the service.
pub(super) const SERVICE: &str = "etcd";

pub(super) const WAIT: Step = Step::wait("wait");

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "etcd",
        family: Family::SessionLock,
        lesson: 7,
        summary: "session and create-revision order in etcd, watching the predecessor only",
        claims: Claims {
            // On a busy machine a session of a second was seen to end when one of three servers was gone, and while purchases waited
            // for new connections to the database.
            sometimes_broken_by: &["lost-reply", "minority-restart", "sql-gone"],
            ..AS_FAMILY
        },
        weak_at: "write",
        needs: &[SERVICE],
        source: include_str!("mod.rs"),
    },
    steps: &[GRANT, PUT, PREDECESSOR, WATCH, WAIT, CHECK, RENEW, DELETE],
    reentrant: false,
    open: |world, _| Box::pin(async { opened(Etcd::open(world).await?) }),
};

pub(super) struct Etcd {
    protocol: Arc<Protocol>,
    sessions: Sessions,
    timeouts: Timeouts,
}

impl Etcd {
    pub(super) async fn open(world: &World) -> Result<Self, Error> {
        let protocol = Arc::new(Protocol::new(world.services.urls(SERVICE)?)?);
        Ok(Self {
            sessions: Sessions::open(protocol.clone(), world).await?,
            protocol,
            timeouts: world.timeouts,
        })
    }

    /// Takes the lock with a key of this purchase. `None` when it was not free in time.
    pub(super) async fn enter(&self, item: &Name, probe: &Probe) -> Result<Option<HeldLock>, Error> {
        self.enter_as(&format!("-{}", Uuid::new_v4().simple()), item, probe)
            .await
    }

    /// The same with the key of the session and this suffix.
    pub(super) async fn enter_as(&self, suffix: &str, item: &Name, probe: &Probe) -> Result<Option<HeldLock>, Error> {
        let deadline = Instant::now() + self.timeouts.wait;
        let prefix = prefix(item);
        let Ok(session) = timeout_at(deadline, self.sessions.current(probe)).await else {
            return Ok(None);
        };
        let session = session?;
        let key = format!("{prefix}{:x}{suffix}", session.lease());
        // From here on a drop deletes the key, also after an error.
        let place = Place::new(self.protocol.clone(), session, key, probe);
        let Some(put) = place.put(&prefix, probe).await? else {
            return Err(Error::given_up(SERVICE, &"the session has ended"));
        };
        let revision = put.revision;
        if put.is_first {
            return Ok(Some(HeldLock { place, revision }));
        }
        if self.is_first(&prefix, revision, deadline, probe).await? && self.protocol.is_there(&place.key, probe).await?
        {
            return Ok(Some(HeldLock { place, revision }));
        }
        place.leave(probe).await?;
        Ok(None)
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
        let held = self.enter(item, probe).await?;
        Ok(held.map(|held| Box::new(held) as Box<dyn Held>))
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
pub(super) struct HeldLock {
    place: Place,
    revision: u64,
}

impl HeldLock {
    /// Asks etcd whether the key is still there, as it was created.
    pub(super) async fn is_owner(&self, probe: &Probe) -> Result<bool, Error> {
        let Place { protocol, key, .. } = &self.place;
        protocol.is_owner(key, self.revision, probe).await
    }
}

#[async_trait]
impl Held for HeldLock {
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        Ok(match self.place.leave(probe).await? {
            true => Released::InTime,
            false => Released::TooLate,
        })
    }
}
