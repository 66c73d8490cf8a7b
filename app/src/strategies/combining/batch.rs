//! Purchases of one item that are put through together.

use std::sync::Arc;

use super::queue::{Lead, QueuedPurchase};
use crate::domain::{Error, Outcome, Purchase};
use crate::probe::Probe;

/// The most purchases of a batch: a bound on how long a store is kept by one operation.
pub(super) const MAX_PURCHASES: usize = 128;

/// The purchase that leads, and those it puts through together with its own, in the order in which they came.
pub(super) struct Batch<'a> {
    lead: Lead,
    own: (&'a Purchase, &'a Probe),
    queued: Vec<QueuedPurchase>,
    /// The probe of all, where there are several.
    together: Option<Probe>,
}

impl<'a> Batch<'a> {
    /// The batch of one, until others are gathered.
    pub(super) fn led(lead: Lead, purchase: &'a Purchase, probe: &'a Probe) -> Self {
        Self {
            lead,
            own: (purchase, probe),
            queued: Vec::new(),
            together: None,
        }
    }

    /// Takes in who waits by now.
    pub(super) fn gather(&mut self) {
        self.queued.extend(self.lead.take(MAX_PURCHASES - self.len()));
        if !self.queued.is_empty() {
            let others = self.queued.iter().map(|queued| &queued.probe);
            self.together = Some(self.own.1.together_with(others));
        }
    }

    /// Lets another batch go beside this one, which is on its way.
    pub(super) fn sent(&self) {
        self.lead.sent();
    }

    /// The purchase that leads.
    pub(super) fn first(&self) -> &Purchase {
        self.own.0
    }

    /// The probe that takes the steps of all.
    pub(super) fn probe(&self) -> &Probe {
        self.together.as_ref().unwrap_or(self.own.1)
    }

    pub(super) fn purchases(&self) -> impl Iterator<Item = &Purchase> {
        let others = self.queued.iter().map(|queued| &queued.purchase);
        std::iter::once(self.own.0).chain(others)
    }

    pub(super) fn len(&self) -> usize {
        1 + self.queued.len()
    }

    /// Lets the next batch begin, and tells each purchase what came of it: the outcomes are in the order of the batch, an error
    /// of `store` is that of all. Answers what came of the first.
    pub(super) fn tell(self, outcomes: Result<Vec<Outcome>, Error>, store: &'static str) -> Result<Outcome, Error> {
        drop(self.lead);
        match outcomes {
            Ok(outcomes) => {
                let mut outcomes = outcomes.into_iter();
                let own = outcomes.next().expect("each purchase of a batch has an outcome");
                for (queued, outcome) in self.queued.into_iter().zip(outcomes) {
                    queued.tell(Ok(outcome));
                }
                Ok(own)
            }
            Err(error) => {
                let error = Arc::new(error);
                for queued in self.queued {
                    queued.tell(Err(of_all(&error, store)));
                }
                Err(of_all(&error, store))
            }
        }
    }
}

/// The error of a batch, as it is told to one of many.
#[derive(Debug, thiserror::Error)]
#[error("the batch failed: {0}")]
struct Failed(Arc<Error>);

fn of_all(error: &Arc<Error>, store: &'static str) -> Error {
    match error.changed_nothing() {
        true => Error::given_up(store, error),
        false => Error::failed(store, Failed(error.clone())),
    }
}
