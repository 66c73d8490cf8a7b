//! The section that a lock protects. It counts violations, and measures how long each handoff takes.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The section that the tasks of a run contend for.
#[derive(Default)]
pub struct CriticalSection {
    is_taken: AtomicBool,
    last_fence: AtomicU64,
    violations: AtomicU64,
    waiting: AtomicUsize,
    /// The time of the last release, if a task was waiting.
    released: Mutex<Option<Instant>>,
    handoffs: Mutex<Vec<Duration>>,
}

/// Counts a waiting task until it is dropped.
pub struct WaitingTask<'a>(&'a CriticalSection);

impl CriticalSection {
    /// Counts a waiting task.
    pub fn wait(&self) -> WaitingTask<'_> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        WaitingTask(self)
    }

    /// Enters with the fence that the lock gave.
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

    /// Leaves, right before the release is sent.
    pub fn leave(&self) {
        // In this order: a broken lock lets the next task in before this one is out.
        let is_awaited = self.waiting.load(Ordering::SeqCst) > 0;
        *self.released() = is_awaited.then(Instant::now);
        self.is_taken.store(false, Ordering::SeqCst);
    }

    /// Returns how often two tasks were inside at once, or a fence did not rise.
    pub fn violations(&self) -> u64 {
        self.violations.load(Ordering::SeqCst)
    }

    /// Returns how long each handoff to a waiting task took.
    pub fn handoffs(&self) -> Vec<Duration> {
        self.handoffs.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn released(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.released.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for WaitingTask<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::CriticalSection;

    #[test]
    fn two_tasks_inside_at_once_and_a_fence_that_does_not_rise_are_violations() {
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
    fn only_a_release_that_a_task_waits_for_is_a_handoff() {
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
