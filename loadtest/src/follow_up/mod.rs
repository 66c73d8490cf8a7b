//! The follow-up of an attack: buyers that come one at a time until the item is sold out, purchases that are sent once
//! more, and a reading of the ledgers when all is over.

mod repeat;
mod sale_set;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::audit::{Expectation, ExplainedUnknowns, FAILURES, FaultSeen, Judgement, judge};
use crate::facts::{Observation, Order};
use crate::responses::Responses;
use crate::sale::{MOST_BUYERS, Sale};
use crate::shop::PurchaseRequest;
use crate::shop::pending::{PendingSale, Reconciled, SETTLES_WITHIN};
use crate::shop::response::{Response, ResponseKind};
use crate::trace::{Incident, RawTrace, SaleTrace, Shown};

pub use sale_set::{SaleSetFollowUp, longest};

/// The time for which a busy buyer retries before the sale counts as stuck: as long as the contract lets units be on
/// reserve.
const BUSY_FOR: Duration = Duration::from_secs(10);

/// The shortest and the longest pause of a busy buyer, whatever the shop asks for.
const BUSY_PAUSE: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(5)];

/// The number of busy responses to a buyer after which the next round does not wait for this one any more.
const BUSY_RESPONSES: usize = 2;

/// The pause after a buyer that was rejected or got no response.
const FAILED_PAUSE: Duration = Duration::from_millis(200);

/// The shortest time between the attack and the repeats at the end of the run.
const REPEATED_AFTER: Duration = Duration::from_secs(1);

/// The time between the last purchase and the last reading of the ledger: effects of a purchase may come late.
const LAST_READING_AFTER: Duration = Duration::from_millis(100);

/// One item of a round after the attack, with all responses and observations so far.
pub struct FollowUp {
    /// Its sale.
    pub sale: Sale,
    /// The expectation of the round.
    pub expected: Expectation,
    /// The responses so far.
    pub responses: Responses,
    /// The observations of the ledgers so far.
    pub observations: Vec<Observation>,
    /// The trace of the instances, until it is collected.
    pub trace: Option<SaleTrace>,
    /// The events of the fault.
    pub incidents: Vec<Incident>,
    /// The findings from that trace.
    pub shown: Shown,
    /// The traces of a violation, until they are kept.
    pub raw_traces: Vec<RawTrace>,
    /// The pending purchases, if the shop sells from two stores.
    pub pending: Option<PendingSale>,
    /// The work of its reconciler, if the shop reports it.
    pub reconciled: Option<Reconciled>,
    /// The orders of other items that have a key of this one.
    pub elsewhere: Vec<Order>,
    /// The end of the attack.
    pub since: Instant,
}

impl FollowUp {
    /// Sells the rest, sends one purchase again, and reads the ledger. Notifies `waits` when a buyer is told busy for
    /// so long that other rounds should not wait. After `until` no further buyer comes.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub async fn run(&mut self, waits: &Notify, until: Instant) -> Result<()> {
        self.snapshot().await;
        if self.is_alone() && Instant::now() < until {
            self.sell_out(waits, until).await;
            self.repeat(waits, until).await;
        }
        self.settle(until).await;
        let read = self.observe_at_rest().await;
        self.collect_trace().await;
        read
    }

    /// Waits for pending purchases. Every sale that was told has to be in the ledger before that. Where nothing was
    /// broken, nothing can be half done: then the ledgers have to agree before that, too.
    async fn settle(&mut self, until: Instant) {
        if let Some(pending) = self.pending.take() {
            if let Ok(mut observation) = self.sale.snapshot().await {
                observation.at_rest = !self.may_be_half_done();
                self.observations.push(observation);
            }
            let deadline = Instant::now().min(until) + SETTLES_WITHIN;
            self.reconciled = pending.settled(deadline).await;
        }
    }

    /// Returns whether something broke a purchase off: a fault that explains missing responses, or its own buyer.
    fn may_be_half_done(&self) -> bool {
        let is_broken = match self.expected.fault {
            Some(FaultSeen::Struck { explains, .. }) => explains != ExplainedUnknowns::Nothing,
            Some(FaultSeen::Missed | FaultSeen::Unproven) => true,
            None => false,
        };
        is_broken
            || self
                .responses
                .all()
                .any(|response| response.kind == ResponseKind::Unknown)
    }

    /// Evaluates the trace against the findings so far. A trace that cannot be read is ignored.
    async fn collect_trace(&mut self) {
        if let Some(trace) = self.trace.take()
            && let Some((mut trace, raw)) = trace.collect().await
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
            if self.shown.story.is_some() {
                self.raw_traces = raw;
            }
        }
    }

    /// Buys once more at the end of the run, when a shop may expect no further buyers. After `until` no buyer comes.
    pub async fn recheck(&mut self, until: Instant) {
        sleep(REPEATED_AFTER.saturating_sub(self.since.elapsed())).await;
        if self.is_alone() && Instant::now() < until {
            let nobody_waits = Notify::new();
            self.send_late_buyer(&nobody_waits).await;
            self.repeat_unanswered(&nobody_waits, until).await;
            self.repeat(&nobody_waits, until).await;
        }
    }

    /// Keeps those of these orders of a store that have a key of this item: the shop entered them elsewhere. Another store
    /// may have copies of the orders.
    pub fn take_own(&mut self, store: &str, orders: &[Order]) {
        if orders.is_empty() {
            return;
        }
        let responses = self.responses.all().chain(&self.responses.altered);
        let keys: HashSet<&str> = responses.map(|response| response.key.as_str()).collect();
        let last = self.observations.last().map_or(&[][..], |last| &last.facts.orders);
        let is_copy = |order: &Order| store != self.sale.strategy.store.orders && last.contains(order);
        let is_own = |order: &&Order| order.key.as_deref().is_some_and(|key| keys.contains(key)) && !is_copy(order);
        self.elsewhere.extend(orders.iter().filter(is_own).cloned());
    }

    /// Reads the ledger for the last time, some time after the last purchase.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub async fn observe_last(&mut self) -> Result<()> {
        if let Some(last) = self.responses.all().map(|response| response.ended).max() {
            sleep(LAST_READING_AFTER.saturating_sub(last.elapsed())).await;
        }
        self.observe_at_rest().await
    }

    /// Returns the verdict on all responses and observations so far.
    pub fn judge(&self) -> Judgement {
        judge(&self.expected, &self.responses, &self.observations)
    }

    /// Returns whether no purchase of a control may still be carried out: with one in progress, the next buyer would
    /// not be alone.
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
        let enough = self.enough_failures();
        let sold_before = self.responses.count(ResponseKind::Sold) as i64;
        for number in (self.next_number()..).take(MOST_BUYERS) {
            // An oversold item need not be oversold further.
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
            if failures >= enough || Instant::now() > until {
                return;
            }
            if failures > 0 {
                sleep(FAILED_PAUSE).await;
            } else if sold == 1 {
                self.snapshot().await;
            }
        }
    }

    /// Returns the number of buyers in a row that may fail before no further one comes: one alone where the attack had no
    /// clear response either.
    fn enough_failures(&self) -> usize {
        let mut attack = self.responses.attack.iter();
        if attack.all(|response| response.kind == ResponseKind::Unknown) {
            1
        } else {
            FAILURES
        }
    }

    fn next_number(&self) -> usize {
        let numbers = self.responses.all().map(|response| response.number + 1);
        numbers.max().unwrap_or(0)
    }

    /// Sends one more buyer to an item that was sold out long ago: no unit may have come back.
    async fn send_late_buyer(&mut self, waits: &Notify) {
        let last = self.responses.follow_up.last();
        if last.is_some_and(|response| response.kind == ResponseKind::SoldOut) {
            let responses = self.buy(self.next_number(), waits).await;
            self.responses.follow_up.extend(responses);
        }
    }

    /// Sends one buyer, who retries as long as the response is busy.
    async fn buy(&self, number: usize, waits: &Notify) -> Vec<Response> {
        self.send(&self.sale.purchase(number), waits).await
    }

    async fn send(&self, request: &PurchaseRequest<'_>, waits: &Notify) -> Vec<Response> {
        let deadline = Instant::now() + BUSY_FOR;
        let mut responses = Vec::new();
        loop {
            let (response, retry_after) = self.sale.client.buy(request).await;
            let is_busy = response.kind == ResponseKind::Busy;
            responses.push(response);
            if !is_busy || Instant::now() >= deadline {
                return responses;
            }
            if responses.len() == BUSY_RESPONSES {
                waits.notify_one();
            }
            let [soonest, latest] = BUSY_PAUSE;
            sleep(retry_after.unwrap_or(soonest).clamp(soonest, latest)).await;
        }
    }

    /// A store that does not answer now is read again when all is over.
    async fn snapshot(&mut self) {
        if let Ok(observation) = self.sale.snapshot().await {
            self.observations.push(observation);
        }
    }

    async fn observe_at_rest(&mut self) -> Result<()> {
        let all_answered = self
            .responses
            .all()
            .all(|response| response.kind != ResponseKind::Unknown);
        let mut observation = self.sale.observe_at_rest(all_answered).await?;
        observation.facts.orders.extend(self.elsewhere.iter().cloned());
        self.observations.push(observation);
        Ok(())
    }
}
