//! Rounds that are not played yet, in the order of the plan, and the testbeds that can play them.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use super::LockServices;
use crate::faults::lock_nodes;
use crate::plan::Round;

/// Rounds with their places in the plan.
pub(super) struct Queue<'a>(Mutex<VecDeque<(usize, &'a Round)>>);

impl<'a> Queue<'a> {
    pub(super) fn of(rounds: impl Iterator<Item = (usize, &'a Round)>) -> Self {
        Self(Mutex::new(rounds.collect()))
    }

    /// Returns whether no round is left.
    pub(super) fn is_empty(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Takes the next round.
    pub(super) fn next(&self) -> Option<(usize, &'a Round)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Takes the next round that a testbed with these services can play. One with all of them takes the rounds that need
    /// one before all others: nobody else can play them.
    pub(super) fn next_for(&self, services: LockServices) -> Option<(usize, &'a Round)> {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = match services {
            LockServices::All => waiting.iter().position(|(_, round)| needs_lock_service(round)),
            LockServices::None => Some(waiting.iter().position(|(_, round)| !needs_lock_service(round))?),
        };
        waiting.remove(place.unwrap_or(0))
    }
}

/// Returns whether its strategy needs a lock service of several nodes.
pub(super) fn needs_lock_service(round: &Round) -> bool {
    !lock_nodes::of_strategy(&round.strategy).is_empty()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use super::*;
    use crate::sale::Load;
    use crate::shop::catalogue;
    use crate::threats;

    const CATALOGUE: &[u8] = br#"[
        {"name":"plain@redis","store":"redis","summary":"","claims":[]},
        {"name":"elected@redis","store":"redis","summary":"","claims":[],"needs":["redis","etcd"]},
        {"name":"other@redis","store":"redis","summary":"","claims":[]}
    ]"#;

    fn rounds() -> Vec<Round> {
        let strategies = catalogue::parse(CATALOGUE).unwrap();
        let round = |strategy| Round {
            strategy,
            threat: threats::find("crowd").unwrap(),
            phase: None,
            instances: 2,
            load: Load {
                buyers: 2,
                requests: 2,
                stock: 1,
                items: 1,
                quantity: 1,
                work_ms: 0,
            },
            repeat: 1,
            until_broken: false,
            in_soak: false,
        };
        strategies.into_iter().map(round).collect()
    }

    #[test]
    fn a_round_that_needs_a_lock_service_waits_for_a_testbed_with_one() {
        let rounds = rounds();
        let queue = || Queue::of(rounds.iter().enumerate());
        let taken = |queue: &Queue<'_>, services| queue.next_for(services).map(|(place, _)| place);
        let (plain, whole) = (LockServices::None, LockServices::All);
        let mixed = queue();
        assert_eq!(taken(&mixed, whole), Some(1), "nobody else can play it");
        assert_eq!([taken(&mixed, plain), taken(&mixed, whole)], [Some(0), Some(2)]);
        assert_eq!([taken(&mixed, plain), taken(&mixed, whole)], [None, None]);
        let left = queue();
        assert_eq!([(); 3].map(|()| taken(&left, plain)), [Some(0), Some(2), None]);
        assert_eq!(taken(&left, whole), Some(1));
    }
}
