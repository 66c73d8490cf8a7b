//! The parts that guards share whose lock is a key in Redis.

pub(super) mod blind_del;
pub(super) mod owner_token;
pub(super) mod reentrant;
pub(super) mod retry;
pub(super) mod wakeups;

use crate::probe::StepValue;

/// Describes the result of an attempt to take a lock.
pub(super) fn taken_or_held(taken: &bool) -> StepValue {
    StepValue::Taken(*taken)
}
