//! Tries and pauses of the guards that do not use the wait of the shop.

use std::time::Duration;

use crate::probe::Step;

/// The number of tries before a buyer is told busy, however long the shop may wait.
pub(in crate::guards) const TRIES: usize = 10;

/// The pause between two tries.
pub(in crate::guards) const TRY_AGAIN_AFTER: Duration = Duration::from_millis(50);

/// Lets the other purchases of the instance run.
pub(in crate::guards) const YIELD: Step = Step::sleep("yield");
