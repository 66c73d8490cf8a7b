//! The follow-up of a round with several items: each item is followed up by itself, a few at a time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::Result;
use futures_util::StreamExt;
use futures_util::stream;
use tokio::sync::Notify;

use super::{BUSY_FOR, BUSY_PAUSE, FollowUp};
use crate::attack::Proof;
use crate::audit::{Judgement, judge_sale_set};
use crate::responses;
use crate::responses::busy;
use crate::responses::latency::Latency;
use crate::sale::sale_set::AT_ONCE;
use crate::shop::ANSWER_WITHIN;
use crate::shop::pending::Reconciled;
use crate::shop::response::{Response, ResponseKind};
use crate::trace::Shown;

/// The longest time for all items of a round. After it no further item is sold out, and no further purchase is
/// repeated.
const WITHIN: Duration = Duration::from_secs(60);

/// Returns the longest time in which buyers come to the items of a round after its attack, or at the end of the run,
/// where their purchases work that long.
pub fn longest(work: Duration) -> Duration {
    // The last buyer may come just before.
    WITHIN + BUSY_FOR + BUSY_PAUSE[1] + ANSWER_WITHIN + work
}

/// A round after the attack, item by item.
pub struct SaleSetFollowUp {
    /// The items, in their order.
    pub items: Vec<FollowUp>,
    /// The proofs that the fault of the round struck.
    pub struck: Vec<Proof>,
}

impl SaleSetFollowUp {
    /// Follows each item up. Notifies `waits` when a buyer is told busy for so long that other rounds should not wait.
    ///
    /// # Errors
    /// When a ledger cannot be read.
    pub async fn run(&mut self, waits: &Notify) -> Result<()> {
        let (until, at_once) = (Instant::now() + WITHIN, self.at_once());
        let items: Vec<_> = self.items.iter_mut().map(|item| item.run(waits, until)).collect();
        stream::iter(items).buffer_unordered(at_once).fold(Ok(()), first).await
    }

    /// Buys once more, at the end of the run.
    pub async fn recheck(&mut self) {
        let (until, at_once) = (Instant::now() + WITHIN, self.at_once());
        let items: Vec<_> = self.items.iter_mut().map(|item| item.recheck(until)).collect();
        stream::iter(items).buffer_unordered(at_once).collect().await
    }

    /// Reads the ledgers for the last time.
    ///
    /// # Errors
    /// When a ledger cannot be read.
    pub async fn observe_last(&mut self) -> Result<()> {
        let items: Vec<_> = self.items.iter_mut().map(FollowUp::observe_last).collect();
        stream::iter(items).buffer_unordered(AT_ONCE).fold(Ok(()), first).await
    }

    /// Returns how many items are followed up at once: one in a control, in which no purchases may overlap.
    fn at_once(&self) -> usize {
        if self.items.iter().all(|item| item.expected.contended) {
            AT_ONCE
        } else {
            1
        }
    }

    /// Returns the verdict on all responses and observations so far.
    pub fn judge(&self) -> Judgement {
        judge_sale_set(self.items.iter().map(FollowUp::judge).collect())
    }

    /// Returns how many purchases had this outcome.
    pub fn count(&self, kind: ResponseKind) -> usize {
        self.items.iter().map(|item| item.responses.count(kind)).sum()
    }

    /// Returns the responses of the attack.
    pub fn attack(&self) -> impl Iterator<Item = &Response> + Clone {
        self.items.iter().flat_map(|item| &item.responses.attack)
    }

    /// Returns the latency of each kind of response in the attack.
    pub fn latency_us(&self) -> BTreeMap<ResponseKind, Latency> {
        responses::latency_us(self.attack())
    }

    /// Returns the time from the first intended start to the last sale of the attack.
    pub fn selling_time(&self) -> Option<Duration> {
        responses::selling_time(self.attack())
    }

    /// Returns the longest time in which no buyer could buy one of the items; `None` where there was none.
    pub fn busy(&self) -> Option<Duration> {
        self.items
            .iter()
            .filter_map(|item| busy::longest(&item.responses))
            .max()
    }

    /// Returns the trace's findings for the first item with a story, or for the first item.
    pub fn shown(&self) -> Shown {
        let with_story = self.items.iter().find(|item| item.shown.story.is_some());
        with_story
            .or(self.items.first())
            .map_or_else(Shown::default, |item| item.shown.clone())
    }

    /// Returns the work of the shop's reconciler for all items, if the shop reports it.
    pub fn reconciled(&self) -> Option<Reconciled> {
        self.items
            .iter()
            .filter_map(|item| item.reconciled)
            .reduce(Reconciled::with)
    }

    /// Returns whether purchases had to overlap.
    pub fn is_contended(&self) -> bool {
        self.items.iter().any(|item| item.expected.contended)
    }
}

async fn first(before: Result<()>, now: Result<()>) -> Result<()> {
    before.and(now)
}
