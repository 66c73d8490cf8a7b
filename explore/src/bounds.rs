//! How far a search goes.

use crate::choice::{Cost, EventKind};

/// The bounds of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The most preemptions of a schedule; `None` for no bound.
    pub preemptions: Option<usize>,
    /// The most events of a schedule.
    pub events: usize,
    /// The kinds of events that it may have.
    pub kinds: Vec<EventKind>,
    /// Whether schedules that differ only in the order of steps that commute are played once. It needs a search without a
    /// bound on preemptions.
    pub is_reduced: bool,
    /// Whether the purchases count as alike: of schedules that differ only in which purchase is which, those are played in which
    /// the first purchase comes first.
    pub are_alike: bool,
    /// The most schedules.
    pub schedules: u64,
}

impl Bounds {
    /// Returns the kinds of events that may come.
    pub fn possible_kinds(&self) -> &[EventKind] {
        if self.events > 0 { &self.kinds } else { &[] }
    }

    /// Returns whether an event of that kind may come after so many events.
    pub(crate) fn may(&self, event: EventKind, events: usize) -> bool {
        events < self.events && self.kinds.contains(&event)
    }

    pub(crate) fn cost(&self) -> Cost {
        Cost {
            preemptions: self.preemptions.unwrap_or(usize::MAX),
            events: self.events,
        }
    }
}
