//! What can stand around read-check-write. One file each; [`all`] is the one list.

mod mutex;
mod none;
mod setnx;
mod token;
mod watchdog;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::{Instant, sleep};

use crate::probe::{Observers, Probe, Step};
use crate::sale::{Error, Fence, Mechanism, Name};
use crate::stores::Redis;

/// A lock around read-check-write, for one item at a time.
#[async_trait]
pub trait Guard: Send + Sync {
    /// What it is and what it claims.
    fn about(&self) -> Mechanism;

    /// The steps it takes.
    fn steps(&self) -> &'static [Step];

    /// Waits for the lock of `item`, at most as long as the guard was told to. `None` when it did not come free.
    ///
    /// # Errors
    /// When the lock's store cannot be reached, which is not the same as a lock that somebody else holds.
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error>;

    /// Forgets an item whose sale is closed, and its lock, whoever holds it.
    ///
    /// # Errors
    /// When the lock's store cannot be reached.
    async fn forget(&self, _item: &Name) -> Result<(), Error> {
        Ok(())
    }
}

/// A lock, while one holds it. Dropping it without release leaves the lock to its lease, if it has one.
#[async_trait]
pub trait Held: Send + Sync {
    /// The number by which a store tells this holder from a later one, where the lock gives one out.
    fn fence(&self) -> Option<Fence> {
        None
    }

    /// Whether it is known by now that the lease was lost. A lock that cannot tell says no.
    fn is_lost(&self) -> bool {
        false
    }

    /// Gives the lock back.
    ///
    /// # Errors
    /// When the lock's store cannot be reached: the lock then stays until its lease ends, if it has one.
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error>;
}

/// What the end of a held lock looked like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Released {
    /// The lock was ours until now.
    InTime,
    /// The lease had ended before: somebody else may have been inside at the same time.
    TooLate,
}

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
        Instant::now() < self.deadline
    }
}

/// The key of an item's lock.
fn lock_key(item: &Name) -> String {
    format!("lock:{{{item}}}")
}

/// What came back from an attempt to take a lock.
fn taken_or_held(taken: &bool) -> &'static str {
    if *taken { "taken" } else { "held by another" }
}

/// Every guard, in the order of the lessons: what each one adds repairs what the one before it lacks.
/// Those that work beside purchases do so under the eyes of `observers`.
pub fn all(redis: &Arc<Redis>, timeouts: Timeouts, observers: &Observers) -> Vec<Arc<dyn Guard>> {
    vec![
        Arc::new(none::Nothing),
        Arc::new(mutex::Mutex::new(timeouts)),
        Arc::new(setnx::Setnx::new(redis, timeouts)),
        Arc::new(token::Token::new(redis, timeouts)),
        Arc::new(watchdog::Watchdog::new(redis, timeouts, observers)),
    ]
}
