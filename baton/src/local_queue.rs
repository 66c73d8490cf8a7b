//! Passes a lock on inside the process, up to a batch, before another process gets its turn: the lock cohorting of NUMA machines,
//! with a round trip in place of a cache miss.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Mutex as FairMutex, OwnedMutexGuard};
use tokio::time::{Instant, timeout_at};

use crate::around::{Act, Around, carry};
use crate::baton::Shared;
use crate::error::Error;
use crate::held::Hold;
use crate::lease::Lease;
use crate::ticket::Ticket;

/// The queues of a process, by the names of the locks. A queue is in the map only while somebody is in it.
#[derive(Default)]
pub(crate) struct LocalQueues(Mutex<HashMap<String, Arc<LocalQueue>>>);

/// Who waits here for one lock.
struct LocalQueue {
    /// First come, first served.
    remote: Arc<FairMutex<Remote>>,
    waiting: AtomicUsize,
}

impl LocalQueue {
    /// Comes back as the first in the queue; in vain at the deadline.
    async fn first(
        &self,
        name: &str,
        deadline: Option<Instant>,
        around: Option<&dyn Around>,
    ) -> Option<OwnedMutexGuard<Remote>> {
        if let Ok(remote) = self.remote.clone().try_lock_owned() {
            return Some(remote);
        }
        let turn = self.remote.clone().lock_owned();
        let turn = async {
            match deadline {
                Some(deadline) => timeout_at(deadline, turn).await.ok(),
                None => Some(turn.await),
            }
        };
        let words = |turn: &Option<_>| if turn.is_some() { "its turn" } else { "not yet" };
        carry(around, Act::Wait, name, turn, words).await
    }
}

/// What the queue has of the lock in Redis.
#[derive(Default)]
struct Remote {
    hold: Option<Hold>,
    /// How many had it since it was had.
    served: u32,
}

impl LocalQueues {
    /// Waits for the lock: for those before it here, and then, unless they leave it, for Redis. None when it has not come at the
    /// deadline.
    pub(crate) async fn turn(
        self: &Arc<Self>,
        shared: &Arc<Shared>,
        name: &str,
        deadline: Option<Instant>,
        around: Option<&dyn Around>,
    ) -> Result<Option<Turn>, Error> {
        let visit = Visit::begin(self, name);
        let waiting = Waiting::begin(&visit);
        let Some(mut remote) = visit.queue.first(name, deadline, around).await else {
            return Ok(None);
        };
        if remote.hold.as_ref().is_none_or(|hold| hold.lease.is_lost()) {
            remote.hold = None;
            remote.hold = Ticket::new(shared, name).wait(deadline, around).await?;
            remote.served = 0;
        }
        if remote.hold.is_none() {
            return Ok(None);
        }
        remote.served += 1;
        drop(waiting);
        Ok(Some(Turn {
            remote: Some(remote),
            batch: shared.settings.batch,
            visit,
        }))
    }

    fn queues(&self) -> MutexGuard<'_, HashMap<String, Arc<LocalQueue>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody who waits at a queue or has its lock. With the last one the queue goes, and what it still has of the lock.
struct Visit {
    queues: Arc<LocalQueues>,
    name: String,
    queue: Arc<LocalQueue>,
}

impl Visit {
    fn begin(queues: &Arc<LocalQueues>, name: &str) -> Self {
        let mut all = queues.queues();
        let queue = all.entry(name.to_owned()).or_insert_with(|| {
            Arc::new(LocalQueue {
                remote: Arc::default(),
                waiting: AtomicUsize::new(0),
            })
        });
        Self {
            queue: queue.clone(),
            queues: queues.clone(),
            name: name.to_owned(),
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let mut queues = self.queues.queues();
        // The map's own and this one. Dropped with it, a lock that somebody left to a waiter who went is given back.
        if Arc::strong_count(&self.queue) == 2 {
            queues.remove(&self.name);
        }
    }
}

/// Counts who waits.
struct Waiting<'a>(&'a LocalQueue);

impl<'a> Waiting<'a> {
    fn begin(visit: &'a Visit) -> Self {
        visit.queue.waiting.fetch_add(1, Ordering::SeqCst);
        Self(&visit.queue)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The lock, had from the queue.
pub(crate) struct Turn {
    /// There until it is given back.
    remote: Option<OwnedMutexGuard<Remote>>,
    batch: u32,
    visit: Visit,
}

impl Turn {
    /// Each of the batch has one of the fences that were reserved for it.
    pub(crate) fn fence(&self) -> u64 {
        let remote = self.remote();
        self.hold().fence + u64::from(remote.served) - 1
    }

    pub(crate) fn lease(&self) -> &Lease {
        &self.hold().lease
    }

    /// Leaves the lock to the next one here, or gives it back. Whether it was ours until now.
    pub(crate) async fn release(mut self, around: Option<&dyn Around>) -> Result<bool, Error> {
        match self.leave() {
            Some(hold) => hold.release(around).await,
            None => Ok(true),
        }
    }

    /// What is to be given back, if it is not left to the next one here.
    fn leave(&mut self) -> Option<Hold> {
        let mut remote = self.remote.take()?;
        let is_wanted = self.visit.queue.waiting.load(Ordering::SeqCst) > 0 && remote.served < self.batch;
        if is_wanted { None } else { remote.hold.take() }
    }

    fn hold(&self) -> &Hold {
        self.remote().hold.as_ref().expect("a turn has the lock")
    }

    fn remote(&self) -> &Remote {
        self.remote.as_ref().expect("there until it is given back")
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.leave();
    }
}
