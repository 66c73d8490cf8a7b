//! Observers at the seam. A mechanism does not know whether there are any.

use std::fmt::{self, Display};
use std::sync::Arc;

use async_trait::async_trait;

use super::{Actor, Counts, Step, StepResult, Time};

/// A step that is going through the seam.
#[derive(Clone, Copy)]
pub struct StepContext<'a> {
    /// The actor that takes it.
    pub actor: &'a Actor,
    /// The step.
    pub step: &'a Step,
    /// The object of the step: a Redis key, an item, a channel.
    pub key: &'a (dyn Display + Sync),
}

impl Display for StepContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {}", self.actor, self.step.name, self.key)
    }
}

/// An observer sees every step before and after it. It may delay the step or end the process.
#[async_trait]
pub trait Observer: Send + Sync {
    /// Returns whether it observes `actor` now. Called before each step, so it must cost almost nothing.
    fn observes(&self, actor: &Actor) -> bool;

    /// Called before the step.
    async fn before(&self, context: &StepContext<'_>);

    /// Called after the step.
    async fn after(&self, context: &StepContext<'_>, result: &StepResult);
}

/// The observers of one instance, its time and its counts. They see a step in this order before it, and in reverse order after it.
#[derive(Clone)]
pub struct Observers {
    all: Arc<[Arc<dyn Observer>]>,
    time: Time,
    counts: Arc<Counts>,
}

impl Observers {
    /// Creates the list, in this order.
    pub fn new(observers: Vec<Arc<dyn Observer>>) -> Self {
        Self {
            all: observers.into(),
            time: Time::default(),
            counts: Arc::default(),
        }
    }

    /// Returns the same observers of an instance that goes by this time.
    pub fn at_time(self, time: Time) -> Self {
        Self { time, ..self }
    }

    /// Returns the counts of the instance.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Returns the time of the instance.
    pub fn time(&self) -> &Time {
        &self.time
    }

    /// Returns the observers that observe `actor` now.
    pub(super) fn of<'a>(&'a self, actor: &'a Actor) -> impl DoubleEndedIterator<Item = &'a dyn Observer> {
        let all = self.all.iter().map(AsRef::as_ref);
        all.filter(|observer: &&dyn Observer| observer.observes(actor))
    }
}
