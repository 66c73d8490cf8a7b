//! Purchases of this instance that wait until their order is in the ledger.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use uuid::Uuid;

/// The reply of the consumer about an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConsumerReply {
    /// The order is in the ledger.
    Recorded,
    /// The consumer has not found its message: another instance has it, or it could not be read.
    NotHere,
}

/// The waiting purchases, by their number in this process.
#[derive(Default)]
pub(super) struct Waiters(Mutex<HashMap<u64, Waiter>>);

struct Waiter {
    order: Uuid,
    /// Whether its message is in the stream.
    is_sent: bool,
    tell: Option<oneshot::Sender<ConsumerReply>>,
}

impl Waiters {
    pub(super) fn join(&self, number: u64, order: Uuid) -> OrderWait<'_> {
        let (tell, told) = oneshot::channel();
        let waiter = Waiter {
            order,
            is_sent: false,
            tell: Some(tell),
        };
        self.waiters().insert(number, waiter);
        OrderWait {
            waiters: self,
            number,
            told,
        }
    }

    /// Returns the waiters whose messages are in the stream.
    pub(super) fn sent(&self) -> Vec<u64> {
        let waiters = self.waiters();
        let sent = waiters.iter().filter(|(_, waiter)| waiter.is_sent);
        sent.map(|(number, _)| *number).collect()
    }

    /// Tells the waiters for this order. False when there is none.
    pub(super) fn recorded(&self, order: Uuid) -> bool {
        let mut waiters = self.waiters();
        let waiting = waiters.values_mut().filter(|waiter| waiter.order == order);
        waiting.map(|waiter| waiter.tell(ConsumerReply::Recorded)).count() > 0
    }

    /// Tells these waiters, unless they have a reply.
    pub(super) fn not_here(&self, numbers: &[u64]) {
        let mut waiters = self.waiters();
        for number in numbers {
            if let Some(waiter) = waiters.get_mut(number) {
                waiter.tell(ConsumerReply::NotHere);
            }
        }
    }

    fn waiters(&self) -> MutexGuard<'_, HashMap<u64, Waiter>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiter {
    fn tell(&mut self, word: ConsumerReply) {
        if let Some(tell) = self.tell.take() {
            // The waiter may be gone.
            let _ = tell.send(word);
        }
    }
}

/// One waiter. Dropping it ends the wait.
pub(in crate::strategies) struct OrderWait<'a> {
    waiters: &'a Waiters,
    number: u64,
    told: oneshot::Receiver<ConsumerReply>,
}

impl OrderWait<'_> {
    /// Marks the message as sent: the consumer can find it from now on.
    pub(super) fn sent(&self) {
        if let Some(waiter) = self.waiters.waiters().get_mut(&self.number) {
            waiter.is_sent = true;
        }
    }

    /// Waits for the reply of the consumer.
    pub(super) async fn told(&mut self) -> ConsumerReply {
        (&mut self.told).await.unwrap_or(ConsumerReply::NotHere)
    }
}

impl Drop for OrderWait<'_> {
    fn drop(&mut self) {
        self.waiters.waiters().remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_waits_is_told_once_and_nobody_whose_message_came_after_the_consumer_looked() {
        let waiters = Waiters::default();
        let orders = [(); 3].map(|()| Uuid::new_v4());
        let [mut first, mut second] = [1, 2].map(|number| waiters.join(number, orders[number as usize]));
        first.sent();
        let sent = waiters.sent();
        second.sent();
        assert_eq!(sent, [1]);
        assert!(waiters.recorded(orders[1]) && !waiters.recorded(orders[0]));
        waiters.not_here(&sent);
        assert_eq!(first.told().await, ConsumerReply::Recorded);
        waiters.not_here(&waiters.sent());
        assert_eq!(second.told().await, ConsumerReply::NotHere);
        drop((first, second));
        assert!(waiters.sent().is_empty());
    }
}
