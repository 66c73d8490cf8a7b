//! What several guards share whose lock is a key of Redis.

pub(super) mod blind_del;
pub(super) mod owner_token;
pub(super) mod reentrant;
pub(super) mod retry;
pub(super) mod wakeups;

/// What came back from an attempt to take a lock.
pub(super) fn taken_or_held(taken: &bool) -> &'static str {
    if *taken { "taken" } else { "held by another" }
}
