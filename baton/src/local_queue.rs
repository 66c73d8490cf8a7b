//! Passes a lock on inside the process, up to a batch, before another process gets it: the lock cohorting of NUMA
//! machines, with a round trip in place of a cache miss.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Mutex as FairMutex, OwnedMutexGuard};
use tokio::time::{Instant, timeout_at};

use crate::error::Error;
use crate::hold::Hold;
use crate::hook::{Hook, Operation, observed};
use crate::lease::Lease;
use crate::shared::Shared;
use crate::ticket::Ticket;

/// The queues of a process, by the names of the locks. A queue exists only while it has visitors.
#[derive(Default)]
pub(crate) struct LocalQueues(Mutex<HashMap<String, Arc<LocalQueue>>>);

struct LocalQueue {
    /// First come, first served.
    cached: Arc<FairMutex<CachedHold>>,
    waiting: AtomicUsize,
}

impl LocalQueue {
    /// Waits until the caller is the first in the queue. None at the deadline.
    async fn first(
        &self,
        name: &str,
        deadline: Option<Instant>,
        hook: Option<&dyn Hook>,
    ) -> Option<OwnedMutexGuard<CachedHold>> {
        if let Ok(cached) = self.cached.clone().try_lock_owned() {
            return Some(cached);
        }
        let locked = self.cached.clone().lock_owned();
        let first = async {
            match deadline {
                Some(deadline) => timeout_at(deadline, locked).await.ok(),
                None => Some(locked.await),
            }
        };
        let words = |first: &Option<_>| {
            if first.is_some() {
                "first in the queue"
            } else {
                "not yet"
            }
        };
        observed(hook, Operation::Wait, name, first, words).await
    }
}

/// The lock that Redis gave to the queue, if it still has it.
#[derive(Default)]
struct CachedHold {
    hold: Option<Hold>,
    /// The number of holders since Redis gave it.
    served: u32,
}

impl LocalQueues {
    /// Waits for the earlier visitors, and then for Redis unless one of them left the lock in the queue. None without
    /// the lock at the deadline.
    pub(crate) async fn wait(
        self: &Arc<Self>,
        shared: &Arc<Shared>,
        name: &str,
        deadline: Option<Instant>,
        hook: Option<&dyn Hook>,
    ) -> Result<Option<LocalHold>, Error> {
        let visit = Visit::begin(self, name);
        let waiting = CountedWaiter::new(&visit.queue);
        let Some(mut cached) = visit.queue.first(name, deadline, hook).await else {
            return Ok(None);
        };
        if cached.hold.as_ref().is_none_or(|hold| hold.lease.is_lost()) {
            cached.hold = None;
            cached.hold = Ticket::new(shared, name).wait(deadline, hook).await?;
            cached.served = 0;
        }
        if cached.hold.is_none() {
            return Ok(None);
        }
        cached.served += 1;
        drop(waiting);
        Ok(Some(LocalHold {
            cached: Some(cached),
            batch: shared.settings.batch,
            visit,
        }))
    }

    fn queues(&self) -> MutexGuard<'_, HashMap<String, Arc<LocalQueue>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A waiter or a holder. The last one removes the queue, and with it a lock that the queue still has.
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
                cached: Arc::default(),
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
        // The two references are that of the map and this one. A lock that was left to a waiter that went is released
        // with the queue.
        if Arc::strong_count(&self.queue) == 2 {
            queues.remove(&self.name);
        }
    }
}

/// Counts a waiter while it waits.
struct CountedWaiter<'a>(&'a LocalQueue);

impl<'a> CountedWaiter<'a> {
    fn new(queue: &'a LocalQueue) -> Self {
        queue.waiting.fetch_add(1, Ordering::SeqCst);
        Self(queue)
    }
}

impl Drop for CountedWaiter<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

/// The lock, granted by a local queue.
pub(crate) struct LocalHold {
    /// None after the release.
    cached: Option<OwnedMutexGuard<CachedHold>>,
    batch: u32,
    visit: Visit,
}

impl LocalHold {
    /// Each holder of the batch has one of the fences that were reserved for the batch.
    pub(crate) fn fence(&self) -> u64 {
        let cached = self.cached();
        self.hold().fence + u64::from(cached.served) - 1
    }

    pub(crate) fn lease(&self) -> &Lease {
        &self.hold().lease
    }

    /// Leaves the lock to the next waiter of the queue, or releases it. Whether it was still held.
    pub(crate) async fn release(mut self, hook: Option<&dyn Hook>) -> Result<bool, Error> {
        match self.leave() {
            Some(hold) => hold.release(hook).await,
            None => Ok(true),
        }
    }

    /// Leaves the queue. Returns the lock if no waiter of the queue may have it.
    fn leave(&mut self) -> Option<Hold> {
        let mut cached = self.cached.take()?;
        let is_wanted = self.visit.queue.waiting.load(Ordering::SeqCst) > 0 && cached.served < self.batch;
        if is_wanted { None } else { cached.hold.take() }
    }

    fn hold(&self) -> &Hold {
        self.cached().hold.as_ref().expect("it has the lock")
    }

    fn cached(&self) -> &CachedHold {
        self.cached.as_ref().expect("it is not released")
    }
}

impl Drop for LocalHold {
    fn drop(&mut self) {
        self.leave();
    }
}
