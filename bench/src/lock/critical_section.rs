//! What a lock is for: one inside at a time. It is watched here, and so is how long it takes until the next one is inside.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What all tasks of a run contend for.
#[derive(Default)]
pub struct CriticalSection {
    is_taken: AtomicBool,
    last_fence: AtomicU64,
    violations: AtomicU64,
    waiting: AtomicUsize,
    /// When the last holder sent its release, if anybody waited then.
    released: Mutex<Option<Instant>>,
    handoffs: Mutex<Vec<Duration>>,
}

/// Somebody who waits to come in.
pub struct Waiting<'a>(&'a CriticalSection);

impl CriticalSection {
    /// Somebody begins to wait, until this is dropped.
    pub fn wait(&self) -> Waiting<'_> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        Waiting(self)
    }

    /// Whoever is told that it has the lock comes in, with the fence that it was given.
    pub fn enter(&self, fence: Option<u64>) {
        let now = Instant::now();
        if let Some(released) = self.released().take() {
            let mut handoffs = self.handoffs.lock().unwrap_or_else(PoisonError::into_inner);
            handoffs.push(now.saturating_duration_since(released));
        }
        let was_taken = self.is_taken.swap(true, Ordering::SeqCst);
        let is_stale = fence.is_some_and(|fence| self.last_fence.fetch_max(fence, Ordering::SeqCst) >= fence);
        self.violations
            .fetch_add((was_taken || is_stale).into(), Ordering::SeqCst);
    }

    /// Goes out, right before its release is sent.
    pub fn leave(&self) {
        // In this order: a lock that is none lets the next one in before this one is out.
        let has_heirs = self.waiting.load(Ordering::SeqCst) > 0;
        *self.released() = has_heirs.then(Instant::now);
        self.is_taken.store(false, Ordering::SeqCst);
    }

    /// How often two were inside at once or a fence did not rise.
    pub fn violations(&self) -> u64 {
        self.violations.load(Ordering::SeqCst)
    }

    /// How long each hand-over took that somebody waited for.
    pub fn handoffs(&self) -> Vec<Duration> {
        self.handoffs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn released(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.released.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::CriticalSection;

    #[test]
    fn two_inside_at_once_and_a_fence_that_does_not_rise_are_violations() {
        let section = CriticalSection::default();
        for (fence, leaves) in [(1, true), (2, true), (2, true), (5, false), (6, true)] {
            section.enter(Some(fence));
            if leaves {
                section.leave();
            }
        }
        assert_eq!(section.violations(), 2);
    }

    #[test]
    fn only_what_somebody_waits_for_is_handed_over() {
        let section = CriticalSection::default();
        section.enter(None);
        section.leave();
        section.enter(None);
        let waiting = section.wait();
        section.leave();
        section.enter(None);
        drop(waiting);
        section.leave();
        section.enter(None);
        assert_eq!(section.handoffs().len(), 1);
    }
}
