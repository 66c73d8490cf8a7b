//! `zookeeper`, whose holder writes only while its client is connected: then its session is known to live.
//!
//! ```text
//! A: a-1 is the first node in the queue; read 1
//! (no message of A's instance reaches ZooKeeper for longer than its session: a-1 is deleted)
//!                     B: b-2 is the first; read 1
//! A: not connected, or its session has ended: busy
//!                     B: connected; write 0, order
//! ```
//!
//! A client calls its connection lost before the session can have ended: after two fifths of the session without an
//! answer. A holder that is paused, or whose session ends, between the check and the write is not protected: it writes when
//! it goes on. The client does not see a node that another client deletes.
//! Cost: five round trips for the first purchase of an item, three for later ones, two for each predecessor.

use async_trait::async_trait;

use super::zookeeper::{HeldLock, SERVICE, STEPS, ZooKeeper};
use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::Probe;

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "zookeeper-checked",
        family: Family::SessionLock,
        lesson: 7,
        summary: "ephemeral sequential node; nothing is written unless the client is connected",
        claims: Claims {
            broken_by: &["instance-cut-off"],
            ..AS_FAMILY
        },
        weak_at: "write",
        needs: &[SERVICE],
        source: include_str!("zookeeper_checked.rs"),
    },
    steps: STEPS,
    reentrant: false,
    open: |world, _| Box::pin(async { opened(ZooKeeperChecked(ZooKeeper::open(world).await?)) }),
};

struct ZooKeeperChecked(ZooKeeper);

#[async_trait]
impl Guard for ZooKeeperChecked {
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
    async fn before_write(&mut self, _probe: &Probe) -> Result<bool, Error> {
        Ok(self.0.is_connected())
    }

    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        Box::new(self.0).release(probe).await
    }
}
