//! The trace of a sale: who took which step of it, collected from every instance that writes one.
//!
//! It is optional: a shop without traces is judged all the same. What it shows stands beside the verdict and never
//! decides it: a store may have refused what two holders at once were about to do.

mod client;
mod event;
mod hold_span;
mod incident;
mod lease;
mod overlap;
mod purchase;
mod story;
mod waits;

pub use crate::audit::Overlap;
pub use client::SaleTrace;
pub use event::{Event, InstanceTrace, Role};
pub use incident::{Incident, IncidentKind, PlacedIncident};
pub use purchase::{End, Step, Trace, TracedPurchase};
pub use story::{Story, StoryEvent, StoryPurchase, StoryStep};
pub use waits::Waits;

use crate::audit::{Expectation, Judgement};
use crate::facts::Observation;
use crate::responses::Responses;

/// What a trace shows of a round.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// Two holders inside at once; `None` where nobody took a lock.
    pub overlap: Option<Overlap>,
    /// How long buyers waited for the lock; `None` where nobody took one.
    pub waits: Option<Waits>,
    /// The steps that show what is wrong, where something is.
    pub story: Option<Story>,
}

impl Shown {
    /// All that `trace` shows of a round that was judged so.
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
