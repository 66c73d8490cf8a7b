//! Observers: what stands at the seam. Mechanisms do not know whether anybody does.

use std::fmt::{self, Display};
use std::sync::Arc;

use async_trait::async_trait;

use super::{Actor, Step};

/// A step on its way through the seam.
#[derive(Clone, Copy)]
pub struct StepContext<'a> {
    /// Who takes it.
    pub actor: &'a Actor,
    /// Which step it is.
    pub step: &'a Step,
    /// What it is about: a key of Redis, an item, a channel.
    pub key: &'a (dyn Display + Sync),
}

impl Display for StepContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} {}", self.actor, self.step.name, self.key)
    }
}

/// What stands at the seam and sees every step twice. It may hold a step up, or end the process.
#[async_trait]
pub trait Observer: Send + Sync {
    /// Whether it looks at what `actor` does just now. Asked before each step, so it must cost next to nothing.
    fn observes(&self, actor: &Actor) -> bool;

    /// The step is about to be taken.
    async fn before(&self, context: &StepContext<'_>);

    /// The step was taken; `result` is what came back, in a few words.
    async fn after(&self, context: &StepContext<'_>, result: &str);
}

/// Everything that stands at the seam of one instance. Steps meet them in this order, and on their way back in reverse.
#[derive(Clone)]
pub struct Observers(Arc<[Arc<dyn Observer>]>);

impl Observers {
    /// These, in this order.
    pub fn new(observers: Vec<Arc<dyn Observer>>) -> Self {
        Self(observers.into())
    }

    /// Those that look at what `actor` does just now.
    pub(super) fn of<'a>(&'a self, actor: &'a Actor) -> impl DoubleEndedIterator<Item = &'a dyn Observer> {
        let all = self.0.iter().map(AsRef::as_ref);
        all.filter(|observer: &&dyn Observer| observer.observes(actor))
    }
}
