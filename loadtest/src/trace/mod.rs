//! The trace of a sale: the steps of each purchase, collected from every instance.
//!
//! A trace is optional: a shop without traces gets a verdict, too. A trace never decides the verdict: two purchases may
//! have held one lock, and the store may have refused one of their writes. It can only show that a round proves nothing,
//! because a fault met the holder of a lock at another moment than the one that is tried.

mod client;
mod event;
mod hold_span;
mod incident;
mod lease;
mod loss;
mod overlap;
mod place_incidents;
mod purchase;
mod story;
mod value;
mod waits;
mod work;

pub use crate::audit::Overlap;
pub use client::{RawTrace, SaleTrace};
pub use event::{Event, InstanceTrace, Role};
pub use incident::{Incident, IncidentKind, PlacedIncident};
pub use loss::Loss;
pub(crate) use place_incidents::now_ns;
pub use purchase::{End, Step, Trace, TracedPurchase};
pub use story::{Story, StoryEvent, StoryPurchase, StoryStep, StoryWorker};
pub use value::StepValue;
pub use waits::Waits;
pub use work::WorkStep;

use crate::audit::{Expectation, Judgement};
use crate::facts::Observation;
use crate::responses::Responses;

/// The findings of a trace about one round.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// The overlap of two holders; `None` where no purchase asked for a lock.
    pub overlap: Option<Overlap>,
    /// The buyers' waits for the lock; `None` where no purchase asked for one.
    pub waits: Option<Waits>,
    /// The steps that show the gravest finding, where there is one.
    pub story: Option<Story>,
}

impl Shown {
    /// Reads the trace of a round with this judgement.
    pub fn of(
        trace: &Trace,
        expected: &Expectation,
        responses: &Responses,
        observations: &[Observation],
        judgement: &Judgement,
    ) -> Self {
        Self {
            overlap: Overlap::of(&trace.purchases),
            waits: Waits::of(&trace.purchases, responses),
            story: Story::of(trace, expected, responses, observations, judgement),
        }
    }
}
