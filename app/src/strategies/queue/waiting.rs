//! The purchases of this instance that wait for their answer, each by its ticket.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use uuid::Uuid;

use crate::domain::{Name, Outcome};

/// What the writer of this instance tells a purchase.
pub(super) enum Told {
    /// It has carried out the purchase.
    Outcome(Outcome),
    /// Another writer carries it out, or has done so.
    NotHere,
}

/// The waiting purchases.
#[derive(Default)]
pub(super) struct Waiting(Mutex<HashMap<Uuid, Waiter>>);

struct Waiter {
    item: Name,
    /// Whether it is known to be in the queue.
    is_queued: bool,
    tell: oneshot::Sender<Told>,
}

impl Waiting {
    /// Joins those that wait, before the purchase is in the queue.
    pub(super) fn join(&self, item: &Name) -> Wait<'_> {
        let ticket = Uuid::new_v4();
        let (tell, told) = oneshot::channel();
        let waiter = Waiter {
            item: item.clone(),
            is_queued: false,
            tell,
        };
        self.waiters().insert(ticket, waiter);
        Wait {
            waiting: self,
            ticket,
            told,
        }
    }

    /// Returns the tickets of this item that are known to be in the queue.
    pub(super) fn queued(&self, item: &Name) -> Vec<Uuid> {
        let waiters = self.waiters();
        let queued = waiters
            .iter()
            .filter(|(_, waiter)| waiter.is_queued && waiter.item == *item);
        queued.map(|(ticket, _)| *ticket).collect()
    }

    /// Tells the purchase with this ticket. False when none waits with it here.
    pub(super) fn tell(&self, ticket: Uuid, told: Told) -> bool {
        let waiter = self.waiters().remove(&ticket);
        // The waiter may be gone.
        waiter.is_some_and(|waiter| waiter.tell.send(told).is_ok())
    }

    fn waiters(&self) -> MutexGuard<'_, HashMap<Uuid, Waiter>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One waiting purchase. Dropping it ends the wait.
pub(super) struct Wait<'a> {
    waiting: &'a Waiting,
    pub(super) ticket: Uuid,
    told: oneshot::Receiver<Told>,
}

impl Wait<'_> {
    /// Notes that the purchase is in the queue.
    pub(super) fn queued(&self) {
        if let Some(waiter) = self.waiting.waiters().get_mut(&self.ticket) {
            waiter.is_queued = true;
        }
    }

    /// Waits for the writer of this instance.
    pub(super) async fn told(&mut self) -> Told {
        (&mut self.told).await.unwrap_or(Told::NotHere)
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        self.waiting.waiters().remove(&self.ticket);
    }
}
