//! ZooKeeper's lock: each purchase creates a node in a queue. It ends with its session. The first node has the lock.
//!
//! ```text
//! A: create /lock/a- (ephemeral, sequential) -> a-1; list the children: a-1 is the first, so A has the lock; read 1
//!                     B: create -> b-2; list: a-1 is before it; watches a-1 only
//! (no message of A's instance reaches ZooKeeper for longer than its session: a-1 is deleted)
//!                     B: woken by the watch; list: b-2 is the first; read 1
//! A: write 0, order
//!                     B: write 0, order    -- oversold
//! ```
//!
//! It is fair, and a release or a dead holder wakes one waiter. Nothing asks before the write whether the session still
//! lives: `zookeeper-checked` does. A session outlives the election of a leader only if its client reaches the new one
//! in time. Source: tutorials 000 and 002. Ours: all purchases of an instance share one session, and their wait has a
//! limit. Cost: five round trips for the first purchase of an item, three for later ones, two for each predecessor.

mod queue;
mod session;

use std::sync::Arc;

use async_trait::async_trait;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout_at};
use zookeeper_client::{Client, WatchedEvent};

use self::queue::{Ahead, Queue, QueueNode};
use self::session::{CHILDREN, CONNECT, CREATE, CREATE_QUEUE, DELETE, Sessions, WATCH};
use super::lock_key::lock_key;
use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::{Probe, Step};
use crate::timeouts::Timeouts;
use crate::world::World;

/// The name of the service.
pub(super) const SERVICE: &str = "zookeeper";

const WAIT: Step = Step::wait("wait");

/// The steps of the lock.
pub(super) const STEPS: &[Step] = &[CONNECT, CREATE, CREATE_QUEUE, CHILDREN, WATCH, WAIT, DELETE];

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "zookeeper",
        family: Family::SessionLock,
        lesson: 7,
        summary: "ephemeral sequential node, watching the predecessor only",
        claims: Claims {
            sometimes_broken_by: &["store-silent", "leader-change"],
            ..AS_FAMILY
        },
        weak_at: "write",
        needs: &[SERVICE],
        source: include_str!("mod.rs"),
    },
    steps: STEPS,
    reentrant: false,
    open: |world, _| Box::pin(async { opened(ZooKeeper::open(world).await?) }),
};

pub(super) struct ZooKeeper {
    sessions: Sessions,
    timeouts: Timeouts,
}

impl ZooKeeper {
    pub(super) async fn open(world: &World) -> Result<Self, Error> {
        let urls = world.services.urls(SERVICE)?;
        Ok(Self {
            sessions: Sessions::open(urls, world.timeouts.lease).await?,
            timeouts: world.timeouts,
        })
    }

    /// Takes the lock. `None` when it was not free in time.
    pub(super) async fn enter(&self, item: &Name, probe: &Probe) -> Result<Option<HeldLock>, Error> {
        let deadline = Instant::now() + self.timeouts.wait;
        let session = self.sessions.current(probe).await?;
        // From here on a drop leaves the queue, also after an error.
        let place = QueueNode::take(queue(session, item), probe).await?;
        loop {
            let before = match place.ahead(probe).await? {
                Ahead::Nobody => return Ok(Some(HeldLock { place })),
                Ahead::One(before) => before,
                Ahead::Gone => return Ok(None),
            };
            if let Some(watch) = place.watch(&before, probe).await? {
                let going = timeout_at(deadline, watch.changed());
                let words = |gone: &Result<WatchedEvent, Elapsed>| if gone.is_ok() { "woken" } else { "timed out" };
                let _ = probe.local(&WAIT, &before, going, words).await;
            }
            if Instant::now() >= deadline {
                place.leave(probe).await?;
                return Ok(None);
            }
        }
    }
}

/// Returns the queue for the lock of an item.
fn queue(session: Arc<Client>, item: &Name) -> Queue {
    let path = format!("/{}", lock_key(item));
    Queue { session, path }
}

#[async_trait]
impl Guard for ZooKeeper {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let held = self.enter(item, probe).await?;
        Ok(held.map(|held| Box::new(held) as Box<dyn Held>))
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        queue(self.sessions.anew_if_ended().await?, item).empty().await
    }
}

/// The lock, held by the first node in the queue.
pub(super) struct HeldLock {
    place: QueueNode,
}

impl HeldLock {
    /// Whether the client is connected: then the session is known to live, and the node with it.
    pub(super) fn is_connected(&self) -> bool {
        self.place.is_connected()
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
