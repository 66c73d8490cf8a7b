//! ZooKeeper's lock: each purchase creates a node in a queue. It ends with its session. The first node has the lock.
//!
//! ```text
//! A: create /lock/a- (ephemeral, sequential) -> a-1; list the children: a-1 is the first, so A has the lock
//!                     B: create -> b-2; list: a-1 is before it; watches a-1 only
//! A: delete a-1 ... or A dies, and its session ends
//!                     B: woken by the watch; list: b-2 is the first
//! ```
//!
//! It is fair, and a release wakes one waiter. A session can end while its holder is paused: then both write.
//! Cost: five round trips for the first purchase of an item, three for later ones, two for each predecessor.

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
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Probe, Step};
use crate::timeouts::Timeouts;
use crate::world::World;

/// The name of the service.
const SERVICE: &str = "zookeeper";

const WAIT: Step = Step::local("wait");

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "zookeeper",
        family: Family::SessionLock,
        lesson: 7,
        summary: "ephemeral sequential node, watching the predecessor only",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[SERVICE],
        source: include_str!("mod.rs"),
    },
    steps: &[CONNECT, CREATE, CREATE_QUEUE, CHILDREN, WATCH, WAIT, DELETE],
    reentrant: false,
    open: |world| Box::pin(async { opened(ZooKeeper::open(world).await?) }),
};

struct ZooKeeper {
    sessions: Sessions,
    timeouts: Timeouts,
}

impl ZooKeeper {
    async fn open(world: &World) -> Result<Self, Error> {
        let urls = world.services.urls(SERVICE)?;
        Ok(Self {
            sessions: Sessions::open(urls, world.timeouts.lease).await?,
            timeouts: world.timeouts,
        })
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
        let deadline = Instant::now() + self.timeouts.wait;
        let session = self.sessions.current(probe).await?;
        // From here on a drop leaves the queue, also after an error.
        let place = QueueNode::take(queue(session, item), probe).await?;
        loop {
            let before = match place.ahead(probe).await? {
                Ahead::Nobody => return Ok(Some(Box::new(HeldLock { place }))),
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

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        queue(self.sessions.anew_if_ended().await?, item).empty().await
    }
}

/// The lock, held by the first node in the queue.
struct HeldLock {
    place: QueueNode,
}

#[async_trait]
impl Held for HeldLock {
    /// Without a connection a holder does not know whether its session still lives, so it does not write.
    async fn before_write(&mut self, _probe: &Probe) -> Result<bool, Error> {
        Ok(self.place.is_kept())
    }

    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        Ok(match self.place.leave(probe).await? {
            true => Released::InTime,
            false => Released::TooLate,
        })
    }
}
