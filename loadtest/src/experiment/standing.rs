//! How far a run is.

use crate::plan::Round;

/// The time of a round that mostly waits, where one without a fault is 1: it waits for a lease or for a process that comes back.
const WAITING: f64 = 16.0;

/// How far a run is when its next round begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    /// The rounds that are over, or left out.
    pub done: usize,
    /// All rounds.
    pub all: usize,
    /// The work that is left, as a multiple of the work that was played; `None` before a round was played.
    pub left: Option<f64>,
}

impl Standing {
    /// Returns the standing where every round takes the same time.
    pub fn even(done: usize, all: usize) -> Self {
        Self {
            done,
            all,
            left: (done > 0).then(|| (all - done) as f64 / done as f64),
        }
    }
}

/// Returns the time of a round, as a multiple of the time of one without a fault, where so many rounds that mostly wait are
/// played side by side.
pub(super) fn weight(round: &Round, side_by_side: usize) -> f64 {
    match round {
        round if round.is_measured() => 1.0,
        // Mostly an earlier repeat has shown the failure, and it is left out.
        round if round.until_broken => 1.0,
        _ => WAITING / side_by_side as f64,
    }
}
