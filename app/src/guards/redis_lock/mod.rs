//! The parts that guards share whose lock is a key in Redis.

pub(super) mod blind_del;
pub(super) mod owner_token;
pub(super) mod reentrant;
pub(super) mod retry;
pub(super) mod wakeups;

/// Describes the result of an attempt to take a lock.
pub(super) fn taken_or_held(taken: &bool) -> &'static str {
    if *taken { "taken" } else { "held by another" }
}
