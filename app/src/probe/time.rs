//! The time of one instance: that of the machine, or one that stands still until an explorer moves it on.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

/// The time by which the pauses and the background workers of an instance go. The default is that of the machine.
#[derive(Clone, Debug, Default)]
pub struct Time(Option<Arc<Stopped>>);

/// A time that stands still.
#[derive(Debug)]
struct Stopped {
    begun: Instant,
    /// The time that has passed since `begun`.
    passed: watch::Sender<Duration>,
    /// The times until which tasks sleep.
    sleep_until: Mutex<Vec<Instant>>,
    workers: AtomicUsize,
}

impl Stopped {
    fn now(&self) -> Instant {
        self.begun + *self.passed.borrow()
    }

    fn sleep_until(&self) -> MutexGuard<'_, Vec<Instant>> {
        self.sleep_until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A task that sleeps until a time. Dropping it wakes the task.
struct Sleeper<'a>(&'a Stopped, Instant);

impl<'a> Sleeper<'a> {
    fn new(stopped: &'a Stopped, then: Instant) -> Self {
        stopped.sleep_until().push(then);
        Self(stopped, then)
    }
}

impl Drop for Sleeper<'_> {
    fn drop(&mut self) {
        let mut all = self.0.sleep_until();
        if let Some(own) = all.iter().position(|then| *then == self.1) {
            all.swap_remove(own);
        }
    }
}

impl Time {
    /// Creates a time that stands still until it is moved on.
    pub fn stopped() -> Self {
        Self(Some(Arc::new(Stopped {
            begun: Instant::now(),
            passed: watch::Sender::new(Duration::ZERO),
            sleep_until: Mutex::default(),
            workers: AtomicUsize::new(0),
        })))
    }

    /// Notes that a background worker goes by this time from now on.
    pub(crate) fn note_worker(&self) {
        if let Some(stopped) = &self.0 {
            stopped.workers.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Returns how many background workers were started; 0 by the time of the machine, which counts none.
    pub fn workers(&self) -> usize {
        let stopped = self.0.as_ref();
        stopped.map_or(0, |stopped| stopped.workers.load(Ordering::SeqCst))
    }

    /// Lets this much time pass. Does nothing to the time of the machine.
    pub fn move_on(&self, by: Duration) {
        if let Some(stopped) = &self.0 {
            stopped.passed.send_modify(|passed| *passed += by);
        }
    }

    /// Returns how many tasks sleep until a time that has not come; 0 by the time of the machine, which counts none.
    pub fn sleepers(&self) -> usize {
        let Some(stopped) = &self.0 else { return 0 };
        let now = stopped.now();
        stopped.sleep_until().iter().filter(|then| **then > now).count()
    }

    /// Returns the time now.
    pub fn now(&self) -> Instant {
        let stopped = self.0.as_ref();
        stopped.map_or_else(Instant::now, |stopped| stopped.now())
    }

    /// Sleeps until then.
    pub async fn sleep_until(&self, then: Instant) {
        let Some(stopped) = &self.0 else {
            return tokio::time::sleep_until(then).await;
        };
        let mut passed = stopped.passed.subscribe();
        let _sleeper = Sleeper::new(stopped, then);
        // The sender is as old as this time.
        let _ = passed.wait_for(|passed| stopped.begun + *passed >= then).await;
    }

    /// Sleeps for so long.
    pub async fn sleep(&self, length: Duration) {
        self.sleep_until(self.now() + length).await;
    }

    /// Pauses for so long between two attempts of a purchase. A time that stands still does not count such pauses: there
    /// an observer of the step decides when the purchase goes on.
    pub(super) async fn pause(&self, length: Duration) {
        if self.0.is_none() {
            tokio::time::sleep(length).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    const LEASE: Duration = Duration::from_secs(600);

    #[tokio::test]
    async fn a_stopped_time_wakes_its_sleepers_when_it_is_moved_on_far_enough() {
        let time = Time::stopped();
        let mut sleeps = Box::pin(time.sleep(LEASE));
        assert!(sleeps.as_mut().now_or_never().is_none());
        assert_eq!(time.sleepers(), 1);
        time.move_on(LEASE / 2);
        assert_eq!((sleeps.as_mut().now_or_never(), time.sleepers()), (None, 1));
        time.move_on(LEASE / 2);
        assert_eq!(
            time.sleepers(),
            0,
            "its time has come, although its task was not run yet"
        );
        sleeps.await;
    }

    #[tokio::test]
    async fn a_purchase_that_pauses_does_not_wait_for_a_stopped_time() {
        Time::stopped().pause(LEASE).await;
    }
}
