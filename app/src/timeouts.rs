//! How long things may take: the wait for a lock, the life of a lock, the attempts of a purchase and the pauses between.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::domain::Name;
use crate::probe::{Probe, Step};

/// The times a guard lives by.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// How long a buyer waits for a lock before being told that the shop is busy.
    pub wait: Duration,
    /// How long a lock outlives a holder that has stopped renewing it.
    pub lease: Duration,
}

/// The pause before another attempt.
pub const PAUSE: Step = Step::local("pause");

/// Pauses between two attempts of those whom nobody wakes, in milliseconds. Drawn at random, so that two who met once
/// do not meet each time.
const PAUSE_MS: std::ops::Range<f64> = 1.0..5.0;

impl Timeouts {
    /// Begins to wait.
    pub fn backoff(self) -> Backoff {
        Backoff {
            deadline: Instant::now() + self.wait,
            first: true,
        }
    }
}

/// The attempts that one purchase has before it is told busy, and the pauses between them.
pub struct Backoff {
    deadline: Instant,
    first: bool,
}

impl Backoff {
    /// Whether there is another attempt at `item`, after a pause unless it is the first.
    pub async fn again(&mut self, item: &Name, probe: &Probe) -> bool {
        if std::mem::take(&mut self.first) {
            return true;
        }
        let pause = Duration::from_secs_f64(rand::random_range(PAUSE_MS) / 1_000.0);
        probe.local(&PAUSE, item, sleep(pause), |()| "again").await;
        !self.is_over()
    }

    /// Whether the wait has lasted as long as it may: for an attempt that follows another without a pause.
    pub fn is_over(&self) -> bool {
        Instant::now() >= self.deadline
    }
}
