//! Purchases that are sent once more after the attack: with the same key a shop must not sell again.

use std::collections::{BTreeSet, HashSet};
use std::time::Instant;

use rand::seq::IteratorRandom;
use tokio::sync::Notify;

use super::FollowUp;
use crate::shop::PurchaseRequest;
use crate::shop::response::{Response, ResponseKind};

/// The number of purchases without a response that are sent again.
const UNANSWERED_REPEATS: usize = 2;

impl FollowUp {
    /// Repeats some purchases without a response: an order of the first delivery must not be made again.
    pub(super) async fn repeat_unanswered(&mut self, waits: &Notify, until: Instant) {
        let sold = self
            .responses
            .all()
            .filter(|response| response.kind == ResponseKind::Sold);
        let sold: HashSet<&str> = sold.map(|response| response.key.as_str()).collect();
        let unknown = self
            .responses
            .attack
            .iter()
            .filter(|response| response.kind == ResponseKind::Unknown);
        let unanswered = unknown.filter(|response| !sold.contains(response.key.as_str()));
        let numbers = unanswered.map(|response| response.number);
        let drawn = numbers.sample(&mut rand::rng(), UNANSWERED_REPEATS);
        self.send_again(drawn, waits, until).await;
    }

    /// Repeats a purchase that was sold, the sold purchases whose repeats were told busy, and the altered ones that were.
    pub(super) async fn repeat(&mut self, waits: &Notify, until: Instant) {
        if self
            .responses
            .follow_up
            .last()
            .is_some_and(|response| response.kind == ResponseKind::Busy)
        {
            // A repeated purchase would be told busy like every other.
            return;
        }
        let sold = self
            .responses
            .all()
            .filter(|response| response.kind == ResponseKind::Sold);
        let sold: Vec<usize> = sold.map(|response| response.number).collect();
        let Some(last) = sold.len().checked_sub(1) else { return };
        let mut numbers = vec![sold[rand::random_range(0..=last)]];
        let busy = self
            .responses
            .repeats
            .iter()
            .filter(|response| response.kind == ResponseKind::Busy);
        numbers.extend(
            busy.map(|response| response.number)
                .filter(|number| sold.contains(number)),
        );
        numbers.sort_unstable();
        numbers.dedup();
        self.send_again(numbers, waits, until).await;
        self.repeat_altered(waits, until).await;
    }

    /// Sends these purchases once more. After `until` none is sent.
    async fn send_again(&mut self, numbers: Vec<usize>, waits: &Notify, until: Instant) {
        for number in numbers {
            if Instant::now() >= until {
                return;
            }
            let responses = self.buy(number, waits).await;
            self.responses.repeats.extend(responses);
        }
    }

    /// Repeats the altered purchases that were told busy: only a refusal shows that the shop knows the key. After `until`
    /// none is sent.
    async fn repeat_altered(&mut self, waits: &Notify, until: Instant) {
        let altered = &self.responses.altered;
        let is_refused = |request: &Response| {
            let mut same = altered.iter().filter(|response| response.is_same_request(request));
            same.any(|response| response.kind != ResponseKind::Busy)
        };
        let busy: BTreeSet<_> = altered
            .iter()
            .filter(|response| response.kind == ResponseKind::Busy && !is_refused(response))
            .map(|response| (response.number, response.quantity, response.buyer.clone()))
            .collect();
        for (number, quantity, buyer) in busy {
            if Instant::now() >= until {
                return;
            }
            let same =
                |request: &PurchaseRequest<'_>| i64::from(request.quantity) == quantity && request.buyer == *buyer;
            let Some(request) = self.sale.altered(number).into_iter().find(same) else {
                continue;
            };
            let responses = self.send(&request, waits).await;
            self.responses.altered.extend(responses);
        }
    }
}
