//! How long a lock is ours, as far as this process can know.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// The lease of one lock. It never ends later here than it ends in Redis, as long as both clocks run equally fast.
pub(crate) struct Lease {
    pub(crate) name: String,
    /// What stands in Redis for whom it belongs to.
    pub(crate) owner: String,
    times: Mutex<Times>,
    lost: CancellationToken,
}

#[derive(Clone, Copy)]
struct Times {
    ends: Instant,
    renew_at: Instant,
}

impl Times {
    /// A third of the way is left for two more attempts.
    fn of(began: Instant, length: Duration) -> Self {
        Self {
            ends: began + length,
            renew_at: began + length / 3,
        }
    }
}

impl Lease {
    pub(crate) fn new(name: String, owner: String, began: Instant, grace: Duration) -> Self {
        Self {
            name,
            owner,
            times: Mutex::new(Times::of(began, grace)),
            lost: CancellationToken::new(),
        }
    }

    /// Renewed by a command that was sent at `sent`. What was lost before its answer came stays so.
    pub(crate) fn prolong(&self, sent: Instant, lease: Duration) {
        if !self.is_lost() {
            *self.times() = Times::of(sent, lease);
        }
    }

    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.times().renew_at <= now
    }

    pub(crate) fn lose(&self) {
        self.lost.cancel();
    }

    /// Whether it is known to be lost, or has not been renewed in time. A process that stood still knows it by the clock.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.is_cancelled() || self.times().ends <= Instant::now()
    }

    /// Comes back as soon as it is lost, also where nobody renews it or looks after it any more.
    pub(crate) async fn lost(&self) {
        while !self.is_lost() {
            let ends = self.times().ends;
            // It may have been renewed by then.
            let _ = timeout_at(ends, self.lost.cancelled()).await;
        }
    }

    fn times(&self) -> MutexGuard<'_, Times> {
        self.times.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_loss_is_told_when_the_lease_ends_and_not_before() {
        let began = Instant::now();
        let lease = Lease::new("lock".to_owned(), "p:1:1".to_owned(), began, GRACE);
        let renewed = async {
            tokio::time::sleep(GRACE / 2).await;
            lease.prolong(Instant::now(), GRACE);
        };
        tokio::join!(lease.lost(), renewed);
        // The timer may round up by a millisecond.
        assert_eq!(began.elapsed().as_millis() / 10, 150);
        lease.prolong(Instant::now(), GRACE);
        assert!(lease.is_lost(), "too late");
    }
}
