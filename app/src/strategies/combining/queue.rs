//! The queues of this instance, one per item. One purchase leads a batch, and later ones wait for the next batch.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::domain::{Error, Name, Outcome, Purchase};
use crate::probe::Probe;

/// So many waiting purchases start a batch beside one that is on its way. Fewer wait for its response: small batches
/// cost the store more than they gain.
pub(super) const FULL: usize = 8;

/// The most batches of an item on their way at once. If a store falls silent, the outcomes of so many are unknown.
const MAX_SENT: usize = 2;

pub(super) type Items = HashMap<Name, Item>;

#[derive(Default)]
pub(super) struct Queues(Mutex<Items>);

/// The queue of an item, kept for as long as one of its purchases leads.
#[derive(Default)]
pub(super) struct Item {
    pub(super) waiting: VecDeque<QueuedPurchase>,
    /// Whether a purchase leads that has not sent its batch, and will add the waiting purchases to it.
    is_gathering: bool,
    /// The number of batches on their way.
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

    /// Takes the leader of the next batch out of the queue, if that batch may start.
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

/// A purchase that waits for a batch.
pub(super) struct QueuedPurchase {
    pub(super) purchase: Purchase,
    pub(super) probe: Probe,
    pub(super) tell: oneshot::Sender<LeadOrOutcome>,
}

/// The message to a waiting purchase.
pub(super) enum LeadOrOutcome {
    /// It leads the next batch, its own purchase first.
    Lead(Lead),
    /// The outcome of its purchase.
    Outcome(Result<Outcome, Error>),
}

impl Queues {
    /// Gives the lead to `next`, if there is one.
    pub(super) fn lead(self: &Arc<Self>, next: Option<QueuedPurchase>, item: &Name) {
        if let Some(next) = next {
            // A waiter that is gone drops the lead, which passes it on.
            let _ = next.tell.send(LeadOrOutcome::Lead(Lead::of(self, item)));
        }
    }

    pub(super) fn items(&self) -> MutexGuard<'_, Items> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueuedPurchase {
    pub(super) fn tell(self, outcome: Result<Outcome, Error>) {
        // The waiter may be gone.
        let _ = self.tell.send(LeadOrOutcome::Outcome(outcome));
    }
}

/// The right to carry out a batch of an item. When it is dropped, the next batch may start.
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

    /// Takes at most `most` purchases out of the queue, in order of arrival.
    pub(super) fn take(&self, most: usize) -> Vec<QueuedPurchase> {
        let mut items = self.queues.items();
        let Some(item) = items.get_mut(&self.item) else {
            return Vec::new();
        };
        let most = most.min(item.waiting.len());
        item.waiting.drain(..most).collect()
    }

    /// Reports that the batch is on its way: no later purchase can overtake it.
    pub(super) fn sent(&self) {
        self.is_sent.store(true, Ordering::Relaxed);
        self.go_on(|item| {
            item.is_gathering = false;
            item.sent += 1;
        });
    }

    /// Makes the change, and gives the lead to the next purchase if its batch may start.
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
