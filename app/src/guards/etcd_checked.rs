//! `etcd`, whose holder asks before the write whether its key still has the revision at which it was created.
//!
//! ```text
//! A: put lock/a -> revision 7, the oldest; read 1
//! (no message of A's instance reaches etcd for longer than the lease: lock/a is deleted)
//!                     B: lock/b is the oldest; read 1
//! A: txn: is the create revision of lock/a 7? -> no: busy
//!                     B: txn: is that of lock/b 8? -> yes; write 0, order
//! ```
//!
//! The condition is `Mutex.IsOwner()` of etcd's Go client. There it stands in the transaction that also writes, so that
//! nothing comes between. Here the stock lies in another store: a lease that ends between the question and the write,
//! or a message that arrives late, is not noticed. Without an answer nothing is written.
//! Cost: three round trips, four for each predecessor, one per third of the lease for all purchases of the instance.

use async_trait::async_trait;

use super::etcd::{CHECK, DELETE, Etcd, GRANT, HeldLock, IS_OWNER, PREDECESSOR, PUT, RENEW, SERVICE, WAIT, WATCH};
use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::Probe;

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "etcd-checked",
        family: Family::SessionLock,
        lesson: 7,
        summary: "etcd's lock, and a question to etcd before the write whether the key is still there",
        claims: Claims {
            broken_by: &["instance-cut-off"],
            ..AS_FAMILY
        },
        weak_at: "write",
        needs: &[SERVICE],
        source: include_str!("etcd_checked.rs"),
    },
    steps: &[GRANT, PUT, PREDECESSOR, WATCH, WAIT, CHECK, IS_OWNER, RENEW, DELETE],
    reentrant: false,
    open: |world, _| Box::pin(async { opened(EtcdChecked(Etcd::open(world).await?)) }),
};

struct EtcdChecked(Etcd);

#[async_trait]
impl Guard for EtcdChecked {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let held = self.0.enter(item, probe).await?;
        Ok(held.map(|held| Box::new(CheckedLock(held)) as Box<dyn Held>))
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.0.forget(item).await
    }
}

struct CheckedLock(HeldLock);

#[async_trait]
impl Held for CheckedLock {
    async fn before_write(&mut self, probe: &Probe) -> Result<bool, Error> {
        let owner = self.0.is_owner(probe).await;
        owner.map_err(|error| Error::given_up(SERVICE, &error))
    }

    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        Box::new(self.0).release(probe).await
    }
}
