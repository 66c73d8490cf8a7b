//! Time limits: the wait for a lock, the lease of a lock, the attempts of a purchase and the pauses between them.

use std::time::Duration;

use tokio::time::Instant;

use crate::domain::Name;
use crate::probe::{Probe, Step};

/// The time limits of a guard.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// The longest wait of a purchase for a lock. Then the response is busy.
    pub wait: Duration,
    /// The time after which a lock ends that its holder no longer renews.
    pub lease: Duration,
}

/// The pause before another attempt.
pub const PAUSE: Step = Step::sleep("pause");

/// The pause between two attempts where no message wakes the waiter, in milliseconds. It is random, so that two
/// purchases that collided once do not collide each time.
const PAUSE_MS: std::ops::Range<f64> = 1.0..5.0;

impl Timeouts {
    /// Starts the wait of one purchase.
    pub fn backoff(self) -> Backoff {
        Backoff {
            deadline: Instant::now() + self.wait,
            first: true,
        }
    }
}

/// The attempts of one purchase until its wait is over, and the pauses between them.
pub struct Backoff {
    deadline: Instant,
    first: bool,
}

impl Backoff {
    /// Pauses, except before the first attempt at `item`, and returns whether another attempt may follow.
    pub async fn again(&mut self, item: &Name, probe: &Probe) -> bool {
        if std::mem::take(&mut self.first) {
            return true;
        }
        let pause = Duration::from_secs_f64(rand::random_range(PAUSE_MS) / 1_000.0);
        probe.pause(&PAUSE, item, pause).await;
        !self.is_over()
    }

    /// Returns whether the wait is over, for an attempt that follows another one without a pause.
    pub fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }
}
