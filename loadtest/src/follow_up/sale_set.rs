//! What follows the attack on a whole market: each item is followed up by itself, a few at a time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::Result;
use futures_util::StreamExt;
use futures_util::stream;
use tokio::sync::Notify;

use super::FollowUp;
use crate::audit::{Judgement, judge_sale_set};
use crate::responses;
use crate::responses::busy;
use crate::responses::latency::Latency;
use crate::sale::sale_set::AT_ONCE;
use crate::shop::pending::Reconciled;
use crate::shop::response::{Response, ResponseKind};
use crate::trace::Shown;

/// How long the items of a round may take in all until no further one is sold out, or sent a purchase again.
const WITHIN: Duration = Duration::from_secs(60);

/// A round whose attack is over, item by item.
pub struct SaleSetFollowUp {
    /// In the order of the items.
    pub items: Vec<FollowUp>,
}

impl SaleSetFollowUp {
    /// Follows each item up. Tells `waits` when buyers are told to wait for so long that others should not wait for them.
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

    /// Looks for the last time.
    ///
    /// # Errors
    /// When a ledger cannot be read.
    pub async fn look_again(&mut self) -> Result<()> {
        let items: Vec<_> = self.items.iter_mut().map(FollowUp::look_again).collect();
        stream::iter(items).buffer_unordered(AT_ONCE).fold(Ok(()), first).await
    }

    /// In a control nothing may meet, not even on another item.
    fn at_once(&self) -> usize {
        if self.items.iter().all(|item| item.expected.contended) {
            AT_ONCE
        } else {
            1
        }
    }

    /// The verdict on all that was said and seen so far.
    pub fn judge(&self) -> Judgement {
        judge_sale_set(self.items.iter().map(FollowUp::judge).collect())
    }

    /// How many purchases ended with `word`.
    pub fn count(&self, kind: ResponseKind) -> usize {
        self.items.iter().map(|item| item.responses.count(kind)).sum()
    }

    /// The answers of the attack.
    pub fn attack(&self) -> impl Iterator<Item = &Response> + Clone {
        self.items.iter().flat_map(|item| &item.responses.attack)
    }

    /// Latency of each word that was said in the attack.
    pub fn latency_us(&self) -> BTreeMap<ResponseKind, Latency> {
        responses::latency_us(self.attack())
    }

    /// From the first intended start to the last sale of the attack.
    pub fn selling_time(&self) -> Option<Duration> {
        responses::selling_time(self.attack())
    }

    /// The longest time in which nobody could buy one of the items; `None` where there was none.
    pub fn busy(&self) -> Option<Duration> {
        self.items
            .iter()
            .filter_map(|item| busy::longest(&item.responses))
            .max()
    }

    /// What the trace shows of the first item with a story, or of the first one.
    pub fn shown(&self) -> Shown {
        let telling = self.items.iter().find(|item| item.shown.story.is_some());
        telling
            .or(self.items.first())
            .map_or_else(Shown::default, |item| item.shown.clone())
    }

    /// What the shop's reconciler did for all items, as far as it said so.
    pub fn reconciled(&self) -> Option<Reconciled> {
        self.items
            .iter()
            .filter_map(|item| item.reconciled)
            .reduce(Reconciled::with)
    }

    /// Whether purchases had to meet each other.
    pub fn is_contended(&self) -> bool {
        self.items.iter().any(|item| item.expected.contended)
    }
}

/// The first error, when all are done.
async fn first(before: Result<()>, now: Result<()>) -> Result<()> {
    before.and(now)
}
