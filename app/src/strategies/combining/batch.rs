//! A batch: purchases of one item that one operation carries out.

use std::sync::Arc;

use super::queue::{Lead, QueuedPurchase};
use crate::domain::{Error, Outcome, Purchase};
use crate::probe::Probe;

/// The most purchases in a batch. It bounds how long one operation keeps a store busy.
pub(super) const MAX_PURCHASES: usize = 128;

/// The leading purchase, and those that it carries out together with its own, in order of arrival.
pub(super) struct Batch<'a> {
    lead: Lead,
    own: (&'a Purchase, &'a Probe),
    queued: Vec<QueuedPurchase>,
    /// The shared probe of a batch with several purchases.
    together: Option<Probe>,
}

impl<'a> Batch<'a> {
    /// Starts a batch with the leading purchase alone.
    pub(super) fn led(lead: Lead, purchase: &'a Purchase, probe: &'a Probe) -> Self {
        Self {
            lead,
            own: (purchase, probe),
            queued: Vec::new(),
            together: None,
        }
    }

    /// Adds the purchases that wait by now.
    pub(super) fn gather(&mut self) {
        self.queued.extend(self.lead.take(MAX_PURCHASES - self.len()));
        if !self.queued.is_empty() {
            let others = self.queued.iter().map(|queued| &queued.probe);
            self.together = Some(self.own.1.together_with(others));
        }
    }

    /// Reports that the batch is on its way, so that another may start beside it.
    pub(super) fn sent(&self) {
        self.lead.sent();
    }

    /// The leading purchase.
    pub(super) fn first(&self) -> &Purchase {
        self.own.0
    }

    /// The probe for the steps of the whole batch.
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

    /// Lets the next batch start, and tells each purchase its outcome: `outcomes` are in the order of the batch, and an
    /// error of `store` goes to all. Returns the outcome of the leading purchase.
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

/// The error of a batch, as one of its purchases gets it.
#[derive(Debug, thiserror::Error)]
#[error("the batch failed: {0}")]
struct Failed(Arc<Error>);

fn of_all(error: &Arc<Error>, store: &'static str) -> Error {
    match error.changed_nothing() {
        true => Error::given_up(store, error),
        false => Error::failed(store, Failed(error.clone())),
    }
}
