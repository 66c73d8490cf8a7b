//! Combining: purchases that wait at one instance are carried out together, as one atomic operation.
//!
//! ```text
//! A: sell 1 of 3 ...                   -- no other purchase leads: A does
//!                     B, C, D: wait for A
//! A: sold, left 2; B leads next
//!                     B: sell B, C, D  -- one script, or one transaction: B and C sold, D sold out
//! ```
//!
//! Instances meet in the store alone: Redis runs one script at a time, and a transaction holds the row's lock from its
//! first read to its commit. A batch serves its purchases in order of arrival, each with its own order. A purchase that
//! comes alone does not wait. At Redis eight waiting purchases do not wait for the batch before them: a second one may
//! be on its way. Cost: one round trip (redis), six round trips (sql), shared by the batch.

mod batch;
mod joining;
mod queue;
mod redis;
mod served;
mod sql;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use self::batch::Batch;
use self::joining::{Joined, join};
use self::queue::{LeadOrOutcome, Queues};
pub(super) use self::served::Served;
use super::{NativeEntry, Strategy};
use crate::domain::{Error, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Probe, Step, StepResult, StepValue};

/// Waits for the leading purchase.
const WAIT: Step = Step::wait("wait");

const MECHANISM: Mechanism = Mechanism {
    name: "combining",
    family: Family::Atomic,
    lesson: 9,
    summary: "purchases that wait at one instance share one script or one transaction",
    claims: AS_FAMILY,
    weak_at: "write",
    needs: &[],
    source: include_str!("mod.rs"),
};

pub(super) const REDIS: NativeEntry = redis::ENTRY;
pub(super) const SQL: NativeEntry = sql::ENTRY;

/// The store that carries out a batch.
#[async_trait]
trait BatchStore: Send + Sync {
    /// Returns the store's name.
    fn name(&self) -> &'static str;

    /// Gathers the batch at the last moment and carries it out: all of it or nothing. Returns the outcomes, in the
    /// order of the batch.
    ///
    /// # Errors
    /// When the store fails: then the outcomes are unknown, unless nothing was changed.
    async fn put_through(&self, batch: &mut Batch<'_>) -> Result<Vec<Outcome>, Error>;
}

struct Combining<L> {
    queues: Arc<Queues>,
    store: L,
    /// How long a purchase waits for its batch to begin.
    wait: Duration,
}

impl<L: BatchStore> Combining<L> {
    fn new(store: L, wait: Duration) -> Self {
        let queues = Arc::default();
        Self { queues, store, wait }
    }
}

#[async_trait]
impl<L: BatchStore> Strategy for Combining<L> {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        probe.work().await;
        let lead = match join(&self.queues, purchase, probe) {
            Joined::Full => return Ok(Outcome::Busy),
            Joined::Leads(lead) => lead,
            Joined::Waits(waiting) => {
                let told = waiting.told(self.wait, self.store.name());
                match probe.local(&WAIT, &purchase.item, told, in_words).await {
                    LeadOrOutcome::Lead(lead) => lead,
                    LeadOrOutcome::Outcome(outcome) => return outcome,
                }
            }
        };
        let mut batch = Batch::led(lead, purchase, probe);
        let outcomes = self.store.put_through(&mut batch).await;
        batch.tell(outcomes, self.store.name())
    }
}

fn in_words(told: &LeadOrOutcome) -> StepResult {
    match told {
        LeadOrOutcome::Lead(_) => "leads".into(),
        LeadOrOutcome::Outcome(Ok(Outcome::Sold { remaining })) => StepValue::Left(*remaining).after("sold"),
        LeadOrOutcome::Outcome(Ok(Outcome::Repeated(_))) => "repeated".into(),
        LeadOrOutcome::Outcome(Ok(Outcome::SoldOut)) => "sold out".into(),
        LeadOrOutcome::Outcome(Ok(Outcome::Busy)) => "busy".into(),
        LeadOrOutcome::Outcome(Ok(Outcome::UnknownItem)) => "unknown".into(),
        LeadOrOutcome::Outcome(Err(error)) => error.to_string().into(),
    }
}
