//! What follows an attack: buyers who come one at a time until the item is sold out, purchases that are sent once more,
//! and looks at the ledgers when all is over.

mod sale_set;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use anyhow::Result;
use rand::seq::IteratorRandom;
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::audit::{Expectation, FAILURES, Judgement, judge};
use crate::facts::Observation;
use crate::responses::Responses;
use crate::sale::{MOST_BUYERS, Sale};
use crate::shop::pending::{PendingSale, Reconciled, SETTLES_WITHIN};
use crate::shop::response::{Response, ResponseKind};
use crate::trace::{Incident, SaleTrace, Shown};

pub use sale_set::SaleSetFollowUp;

/// How long a buyer who is told busy comes again before nobody can buy any more: as long as the contract lets units be
/// on reserve.
const BUSY_FOR: Duration = Duration::from_secs(10);

/// When a buyer who is told busy comes again, whatever the shop says.
const BUSY_AGAIN: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(5)];

/// Times that a buyer is told busy before the next round need not wait for this one.
const BUSY_ONCE_MORE: usize = 2;

/// After which the next one comes who follows a buyer that was rejected, or got no answer.
const FAILED_AGAIN: Duration = Duration::from_millis(200);

/// How long after the attack a purchase is sent again at the end of the run, at least.
const REPEATED_AFTER: Duration = Duration::from_secs(1);

/// How long after the last purchase of all the ledger is looked at for the last time: what comes of it may come late.
const LOOKED_AFTER: Duration = Duration::from_millis(100);

/// Of the purchases whose answer never came: so many are sent again.
const UNHEARD_AGAIN: usize = 2;

/// An item of a round whose attack is over, with all that was said and seen of it so far.
pub struct FollowUp {
    /// What was sold.
    pub sale: Sale,
    /// What the round was about.
    pub expected: Expectation,
    /// What buyers were told.
    pub responses: Responses,
    /// What was seen of the ledgers.
    pub observations: Vec<Observation>,
    /// What the instances write down, until it is collected.
    pub trace: Option<SaleTrace>,
    /// What was done to the shop during the attack.
    pub incidents: Vec<Incident>,
    /// What the trace shows.
    pub shown: Shown,
    /// What the shop may say of purchases that are neither done nor undone, where it sells from two stores.
    pub pending: Option<PendingSale>,
    /// What its reconciler did, as far as it said so.
    pub reconciled: Option<Reconciled>,
    /// When the attack was over.
    pub since: Instant,
}

impl FollowUp {
    /// Sells what is left, sends one purchase again, and looks. Tells `waits` when buyers are told to wait for so long
    /// that others should not wait for them. After `until` no further buyer comes.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub async fn run(&mut self, waits: &Notify, until: Instant) -> Result<()> {
        self.snapshot().await;
        if self.is_alone() && Instant::now() < until {
            self.sell_out(waits, until).await;
            self.repeat(waits).await;
        }
        self.settle(until).await;
        let looked = self.look().await;
        self.collect_trace().await;
        looked
    }

    /// Waits for what is in between. Whatever was told has to be in the ledger before that.
    async fn settle(&mut self, until: Instant) {
        if let Some(pending) = self.pending.take() {
            self.snapshot().await;
            let deadline = Instant::now().min(until) + SETTLES_WITHIN;
            self.reconciled = pending.settled(deadline).await;
        }
    }

    /// What was written down until now shows what was found until now. A trace that cannot be read is none.
    async fn collect_trace(&mut self) {
        if let Some(trace) = self.trace.take()
            && let Some(mut trace) = trace.collect().await
        {
            trace.lease = self.sale.strategy.lease_ms.map(Duration::from_millis);
            trace.place(&self.incidents, &self.responses);
            self.shown = Shown::of(
                &trace,
                &self.expected,
                &self.responses,
                &self.observations,
                &self.judge(),
            );
        }
    }

    /// Once more, at the end of the run: what the shop does when it thinks that nobody comes any more. After `until` nobody
    /// does.
    pub async fn recheck(&mut self, until: Instant) {
        sleep(REPEATED_AFTER.saturating_sub(self.since.elapsed())).await;
        if self.is_alone() && Instant::now() < until {
            let nobody_waits = Notify::new();
            self.come_late(&nobody_waits).await;
            self.send_unheard_again(&nobody_waits).await;
            self.repeat(&nobody_waits).await;
        }
    }

    /// The last look, some time after the last purchase.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub async fn look_again(&mut self) -> Result<()> {
        if let Some(last) = self.responses.responses().map(|response| response.ended).max() {
            sleep(LOOKED_AFTER.saturating_sub(last.elapsed())).await;
        }
        self.look().await
    }

    /// The verdict on all that was said and seen so far.
    pub fn judge(&self) -> Judgement {
        judge(&self.expected, &self.responses, &self.observations)
    }

    /// Whose answer never came in a control may still be buying: whoever came now would not be alone.
    fn is_alone(&self) -> bool {
        self.expected.contended
            || self
                .responses
                .attack
                .iter()
                .all(|response| response.kind != ResponseKind::Unknown)
    }

    async fn sell_out(&mut self, waits: &Notify, until: Instant) {
        let (mut failures, mut sold) = (0, 0);
        let sold_before = self.responses.count(ResponseKind::Sold) as i64;
        for number in (self.next_number()..).take(MOST_BUYERS) {
            // What was sold too often need not be sold more often still.
            if (sold_before + sold) * self.expected.quantity > self.expected.stock {
                return;
            }
            let responses = self.buy(number, waits).await;
            let last = responses.last().map(|response| response.kind);
            self.responses.follow_up.extend(responses);
            match last {
                Some(ResponseKind::Sold) => (failures, sold) = (0, sold + 1),
                Some(ResponseKind::Unknown | ResponseKind::Rejected) => failures += 1,
                Some(ResponseKind::SoldOut | ResponseKind::Busy) | None => return,
            }
            if failures == FAILURES || Instant::now() > until {
                return;
            }
            if failures > 0 {
                sleep(FAILED_AGAIN).await;
            } else if sold == 1 {
                self.snapshot().await;
            }
        }
    }

    /// The first number that no purchase has had.
    fn next_number(&self) -> usize {
        let numbers = self.responses.responses().map(|response| response.number + 1);
        numbers.max().unwrap_or(0)
    }

    /// One more buyer, who wants what was sold out long ago: nothing may have brought it back.
    async fn come_late(&mut self, waits: &Notify) {
        let last = self.responses.follow_up.last();
        if last.is_some_and(|response| response.kind == ResponseKind::SoldOut) {
            let responses = self.buy(self.next_number(), waits).await;
            self.responses.follow_up.extend(responses);
        }
    }

    /// Who never got an answer may ask once more: what was bought then is not bought again.
    async fn send_unheard_again(&mut self, waits: &Notify) {
        let sold = self
            .responses
            .responses()
            .filter(|response| response.kind == ResponseKind::Sold);
        let sold: HashSet<&str> = sold.map(|response| response.key.as_str()).collect();
        let unknown = self
            .responses
            .attack
            .iter()
            .filter(|response| response.kind == ResponseKind::Unknown);
        let unheard = unknown.filter(|response| !sold.contains(response.key.as_str()));
        let numbers = unheard.map(|response| response.number);
        let drawn = numbers.sample(&mut rand::rng(), UNHEARD_AGAIN);
        for number in drawn {
            let responses = self.buy(number, waits).await;
            self.responses.repeats.extend(responses);
        }
    }

    /// A purchase that was sold, and those that were told to wait when they were sent again, are sent once more.
    async fn repeat(&mut self, waits: &Notify) {
        if self
            .responses
            .follow_up
            .last()
            .is_some_and(|response| response.kind == ResponseKind::Busy)
        {
            // Who clicks again would be told to wait as everybody is.
            return;
        }
        let sold = self
            .responses
            .responses()
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
        for number in numbers {
            let responses = self.buy(number, waits).await;
            self.responses.repeats.extend(responses);
        }
    }

    /// One buyer, who comes again as long as the answer is busy.
    async fn buy(&self, number: usize, waits: &Notify) -> Vec<Response> {
        let deadline = Instant::now() + BUSY_FOR;
        let mut responses = Vec::new();
        loop {
            let (response, retry_after) = self.sale.buy(number).await;
            let is_busy = response.kind == ResponseKind::Busy;
            responses.push(response);
            if !is_busy || Instant::now() >= deadline {
                return responses;
            }
            if responses.len() == BUSY_ONCE_MORE {
                waits.notify_one();
            }
            let [soonest, latest] = BUSY_AGAIN;
            sleep(retry_after.unwrap_or(soonest).clamp(soonest, latest)).await;
        }
    }

    /// A store that does not answer now is asked again when all is over.
    async fn snapshot(&mut self) {
        if let Ok(look) = self.sale.snapshot().await {
            self.observations.push(look);
        }
    }

    async fn look(&mut self) -> Result<()> {
        let all_answered = self
            .responses
            .responses()
            .all(|response| response.kind != ResponseKind::Unknown);
        self.observations.push(self.sale.look(all_answered).await?);
        Ok(())
    }
}
