//! How long this process may believe that it holds a lock.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// The lease of one lock. Here it never ends later than in Redis, if both clocks run at the same speed.
pub(crate) struct Lease {
    pub(crate) name: String,
    /// The value of the lock's key in Redis.
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
    /// Renewal begins after a third of the lease, so that there is time for two more attempts.
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

    /// Extends the lease after a renewal that was sent at `sent`. A lost lease stays lost.
    pub(crate) fn extend(&self, sent: Instant, lease: Duration) {
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

    /// Whether Redis said that the lock is lost, or nobody renewed it in time. The clock tells a process that was
    /// stopped.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.is_cancelled() || self.times().ends <= Instant::now()
    }

    /// Waits until the lock is lost. It also returns when renewal has stopped.
    pub(crate) async fn lost(&self) {
        while !self.is_lost() {
            let ends = self.times().ends;
            // A renewal may have extended it by then.
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
    async fn the_loss_is_reported_when_the_lease_ends_and_not_before() {
        let began = Instant::now();
        let lease = Lease::new("lock".to_owned(), "p:1:1".to_owned(), began, GRACE);
        let renewed = async {
            tokio::time::sleep(GRACE / 2).await;
            lease.extend(Instant::now(), GRACE);
        };
        tokio::join!(lease.lost(), renewed);
        // The timer may round up by a millisecond.
        assert_eq!(began.elapsed().as_millis() / 10, 150);
        lease.extend(Instant::now(), GRACE);
        assert!(lease.is_lost(), "a lost lease is not extended");
    }
}
