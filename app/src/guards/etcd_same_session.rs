//! `Mutex` of etcd's Go client as it is, used by all purchases of an instance: its key is the prefix and the session.
//!
//! ```text
//! A: put lock/s -> revision 7, the oldest: has the lock; read 1
//! B (same instance): lock/s is there already, with revision 7, the oldest: has the lock; read 1
//! A: write 0, order; delete lock/s
//! B: write 0, order; delete lock/s    -- oversold
//!                     C (other instance): put lock/t -> revision 9: enters when lock/s is deleted
//! ```
//!
//! The key belongs to the session, so that a client that asks again after a lost response finds its place. The lock
//! keeps sessions apart, not the purchases of one: each of these needs a session of its own, or another key (`etcd`).
//! Cost: two round trips, four for each predecessor, one per third of the lease for all purchases of the instance.

use async_trait::async_trait;

use super::etcd::{CHECK, DELETE, Etcd, GRANT, HeldLock, PREDECESSOR, PUT, RENEW, SERVICE, WAIT, WATCH};
use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_NO_LOCK, Family, Mechanism};
use crate::probe::Probe;

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "etcd-same-session",
        family: Family::SessionLock,
        lesson: 7,
        summary: "etcd's Mutex with one session for all purchases of an instance, which share its key",
        claims: AS_NO_LOCK,
        weak_at: "write",
        needs: &[SERVICE],
        source: include_str!("etcd_same_session.rs"),
    },
    steps: &[GRANT, PUT, PREDECESSOR, WATCH, WAIT, CHECK, RENEW, DELETE],
    reentrant: true,
    open: |world, _| Box::pin(async { opened(EtcdSameSession(Etcd::open(world).await?)) }),
};

struct EtcdSameSession(Etcd);

#[async_trait]
impl Guard for EtcdSameSession {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let held = self.0.enter_as("", item, probe).await?;
        Ok(held.map(|held| Box::new(SharedLock(held)) as Box<dyn Held>))
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.0.forget(item).await
    }
}

struct SharedLock(HeldLock);

#[async_trait]
impl Held for SharedLock {
    /// Does not look whether the key was there: another purchase of the session may have deleted it.
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        Box::new(self.0).release(probe).await?;
        Ok(Released::InTime)
    }
}
