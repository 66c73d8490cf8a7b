//! Who waits at this instance, item by item. One purchase leads a batch, and those who come meanwhile wait for the next one.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::domain::{Error, Name, Outcome, Purchase};
use crate::probe::Probe;

/// So many who wait go beside a batch that is on its way. Fewer wait for its answer: small batches cost the store more than they
/// gain.
pub(super) const FULL: usize = 8;

/// The most batches of an item that are on their way at once: so many are left without knowing by a store that falls silent.
const MAX_SENT: usize = 2;

pub(super) type Items = HashMap<Name, Item>;

/// The queues of an instance, item by item.
#[derive(Default)]
pub(super) struct Queues(Mutex<Items>);

/// The queue of an item, kept for as long as one of its purchases leads.
#[derive(Default)]
pub(super) struct Item {
    pub(super) waiting: VecDeque<QueuedPurchase>,
    /// Whether somebody leads whose batch is not sent yet, and will take in who waits then.
    is_gathering: bool,
    /// Batches on their way.
    sent: usize,
}

impl Item {
    /// The queue of an item whose first purchase leads.
    pub(super) fn led() -> Self {
        Self {
            is_gathering: true,
            ..Self::default()
        }
    }

    /// Who is to lead the next batch, if it may begin.
    pub(super) fn next(&mut self) -> Option<QueuedPurchase> {
        let goes_beside = self.sent < MAX_SENT && self.waiting.len() >= FULL;
        if self.is_gathering || self.sent > 0 && !goes_beside {
            return None;
        }
        let next = self.waiting.pop_front();
        self.is_gathering = next.is_some();
        next
    }
}

/// A purchase that waits to be put through.
pub(super) struct QueuedPurchase {
    pub(super) purchase: Purchase,
    pub(super) probe: Probe,
    pub(super) tell: oneshot::Sender<LeadOrOutcome>,
}

/// What somebody who waits is told.
pub(super) enum LeadOrOutcome {
    /// To lead the next batch, its own purchase first.
    Lead(Lead),
    /// What came of its purchase.
    Outcome(Result<Outcome, Error>),
}

impl Queues {
    /// Lets somebody lead, if anybody is to.
    pub(super) fn lead(self: &Arc<Self>, next: Option<QueuedPurchase>, item: &Name) {
        if let Some(next) = next {
            // Whoever has gone drops it, and so hands it on.
            let _ = next.tell.send(LeadOrOutcome::Lead(Lead::of(self, item)));
        }
    }

    pub(super) fn items(&self) -> MutexGuard<'_, Items> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueuedPurchase {
    pub(super) fn tell(self, outcome: Result<Outcome, Error>) {
        // It may have gone.
        let _ = self.tell.send(LeadOrOutcome::Outcome(outcome));
    }
}

/// The right to put a batch of an item through. When it is dropped, however that comes, the next one may begin.
pub(super) struct Lead {
    queues: Arc<Queues>,
    item: Name,
    is_sent: AtomicBool,
}

impl Lead {
    pub(super) fn of(queues: &Arc<Queues>, item: &Name) -> Self {
        Self {
            queues: queues.clone(),
            item: item.clone(),
            is_sent: AtomicBool::new(false),
        }
    }

    /// Takes those who wait out of the queue, at most so many, first come first.
    pub(super) fn take(&self, most: usize) -> Vec<QueuedPurchase> {
        let mut items = self.queues.items();
        let Some(item) = items.get_mut(&self.item) else {
            return Vec::new();
        };
        let most = most.min(item.waiting.len());
        item.waiting.drain(..most).collect()
    }

    /// The batch is on its way now, and nobody who comes later can overtake it.
    pub(super) fn sent(&self) {
        self.is_sent.store(true, Ordering::Relaxed);
        self.go_on(|item| {
            item.is_gathering = false;
            item.sent += 1;
        });
    }

    /// Lets the next one lead, if it may after `change`.
    fn go_on(&self, change: impl FnOnce(&mut Item)) {
        let mut items = self.queues.items();
        let Some(item) = items.get_mut(&self.item) else { return };
        change(item);
        let next = item.next();
        if item.sent == 0 && !item.is_gathering {
            items.remove(&self.item);
        }
        drop(items);
        self.queues.lead(next, &self.item);
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        let is_sent = self.is_sent.load(Ordering::Relaxed);
        self.go_on(|item| match is_sent {
            true => item.sent -= 1,
            false => item.is_gathering = false,
        });
    }
}
