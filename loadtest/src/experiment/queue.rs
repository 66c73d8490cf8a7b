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
