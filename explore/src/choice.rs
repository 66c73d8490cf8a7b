//! What can happen next in a schedule.

use serde::{Deserialize, Serialize};

/// What happens next: a step of a purchase, or an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// The purchase of this number, from 0, takes its next step.
    Step(usize),
    /// Every lease that Redis or MariaDB keeps ends, as if its time were over.
    LeaseEnds,
    /// The process of this purchase stops for ever.
    Crash(usize),
}

impl Choice {
    /// Returns whether it is an event.
    pub fn is_event(self) -> bool {
        !matches!(self, Self::Step(_))
    }
}

/// A moment at which one of several choices could be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// The choices: first the purchase that took the step before, where it can go on; events come last.
    pub options: Vec<Choice>,
    /// The choice that was made.
    pub chosen: Choice,
    /// The purchase that took the step before, where it could have gone on.
    pub going_on: Option<usize>,
}

impl Point {
    /// Returns whether that choice interrupts a purchase that could go on.
    pub fn preempts(&self, choice: Choice) -> bool {
        match (choice, self.going_on) {
            (Choice::Step(purchase), Some(going_on)) => purchase != going_on,
            _ => false,
        }
    }
}

/// The preemptions and the events among choices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    /// How often a purchase was interrupted that could have gone on.
    pub preemptions: usize,
    /// The events.
    pub events: usize,
}

impl Cost {
    /// Returns the cost of the choices that were made.
    pub fn of(points: &[Point]) -> Self {
        let mut cost = Self::default();
        for point in points {
            cost.add(point, point.chosen);
        }
        cost
    }

    /// Adds the cost of a choice.
    pub fn add(&mut self, point: &Point, choice: Choice) {
        self.preemptions += usize::from(point.preempts(choice));
        self.events += usize::from(choice.is_event());
    }

    /// Returns whether both are within these bounds.
    pub fn is_within(self, bounds: Self) -> bool {
        self.preemptions <= bounds.preemptions && self.events <= bounds.events
    }
}
