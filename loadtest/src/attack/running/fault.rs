//! The purchase that carries a fault.

use std::time::{Duration, Instant};

use goose::goose::GooseUser;
use tokio::time::sleep;

use super::{Running, locked};
use crate::answer::Word;
use crate::attack::Fault;

/// How many purchases may carry the fault until it strikes: one that is told busy never comes to the step.
const FAULT_TRIES: usize = 5;

/// After which a buyer who carries the fault tries again.
const FAULT_AGAIN: Duration = Duration::from_millis(100);

/// How long after an answer the death of an instance may be noticed: after one of the shop's own, and after silence.
const DIES_WITHIN: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];

impl Running {
    /// Sends purchases that carry the fault until it strikes. Whether it did.
    pub(super) async fn provoke(&self, user: &mut GooseUser, fault: &Fault, intended: Instant) -> bool {
        let (mut place, mut intended) = (fault.place, intended);
        for _ in 0..FAULT_TRIES {
            let mut request = self.attack.sale.purchase(place);
            request.fault = Some((fault.text, &self.attack.sale.client.at.admin_token));
            let answer = self.send(user, &request, intended).await;
            let word = answer.word;
            locked(&self.told).attack.push(answer);
            let [after_answer, after_silence] = DIES_WITHIN;
            let within = if word == Word::Unknown {
                after_silence
            } else {
                after_answer
            };
            if fault.deaths.died(within).await {
                return true;
            }
            if !matches!(word, Word::Busy | Word::Sold) {
                return false;
            }
            sleep(FAULT_AGAIN).await;
            let Some(next) = self.next_place() else { return false };
            (place, intended) = (next, Instant::now());
        }
        false
    }
}
