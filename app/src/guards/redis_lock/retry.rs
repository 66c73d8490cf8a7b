//! How often, and after which pause, a lock is asked for where that is not the wait of the shop.

use std::time::Duration;

use crate::probe::Step;

/// After so many tries a buyer is told busy, however long the shop may wait.
pub(in crate::guards) const TRIES: usize = 10;

/// The pause between two tries.
pub(in crate::guards) const TRY_AGAIN_AFTER: Duration = Duration::from_millis(50);

/// Lets the other purchases of the instance have a turn.
pub(in crate::guards) const YIELD: Step = Step::local("yield");
