//! The reconciler: a background task that ends the purchases that a crash left half done, for strategies that take
//! several steps.

mod in_doubt;

use std::collections::HashMap;
use std::ops::AddAssign;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde::Serialize;
use tokio_util::task::AbortOnDropHandle;

pub use self::in_doubt::{InDoubt, Left};
use crate::domain::{Error, Name};
use crate::probe::{Counts, Probe};
use crate::stores::MAX_SALES;
use crate::stores::sql::xa::Decision;
use crate::world::World;

/// The most purchases that one round of a reconciler ends.
pub const BATCH: usize = 32;

/// The shortest and the longest pause between two rounds. Each instance sends one query in each round, for each open
/// strategy.
const PAUSE: [Duration; 2] = [Duration::from_millis(10), Duration::from_secs(1)];

/// The number of pending purchases of one item, and of those that this instance's reconciler has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Pending {
    /// Purchases that are neither done nor undone now, at any instance.
    pub open: u64,
    /// Purchases that this instance's reconciler has completed.
    pub finished: u64,
    /// Purchases that this instance's reconciler has undone.
    pub undone: u64,
    /// The longest time that one of the ended purchases was pending, in milliseconds.
    pub longest_ms: u64,
}

impl AddAssign for Pending {
    fn add_assign(&mut self, other: Self) {
        self.open += other.open;
        self.finished += other.finished;
        self.undone += other.undone;
        self.longest_ms = self.longest_ms.max(other.longest_ms);
    }
}

/// The end of a purchase that was left half done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The units were sold.
    Finished,
    /// All of its changes were taken back.
    Undone,
}

impl End {
    fn word(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Undone => "undone",
        }
    }
}

impl From<Decision> for End {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Commit => Self::Finished,
            Decision::Rollback => Self::Undone,
        }
    }
}

/// The purchases that this instance's reconciler has ended, by item, until the sale is closed.
#[derive(Default)]
pub struct Reconciled(Mutex<HashMap<Name, Pending>>);

impl Reconciled {
    /// Counts a purchase that was pending for `hung_ms` milliseconds. Ignores new items when it holds as many as sales
    /// can be open.
    pub fn count(&self, item: &Name, end: End, hung_ms: u64, counts: &Counts) {
        counts.reconciled(end.word());
        let mut items = self.items();
        if items.len() >= MAX_SALES as usize && !items.contains_key(item) {
            return;
        }
        let counted = items.entry(item.clone()).or_default();
        *counted += Pending {
            open: 0,
            finished: u64::from(end == End::Finished),
            undone: u64::from(end == End::Undone),
            longest_ms: hung_ms,
        };
    }

    /// Returns the counts of an item, with `open` purchases pending now.
    pub fn of(&self, item: &Name, open: u64) -> Pending {
        let counted = self.items().get(item).copied().unwrap_or_default();
        Pending { open, ..counted }
    }

    /// Forgets an item.
    pub fn forget(&self, item: &Name) {
        self.items().remove(item);
    }

    fn items(&self) -> MutexGuard<'_, HashMap<Name, Pending>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The work of a strategy's reconciler.
#[async_trait]
pub trait Reconcile: Send + Sync + 'static {
    /// Ends overdue purchases, at most [`BATCH`], and returns whether there may be more. It may be aborted at any step,
    /// and other instances may do the same at the same time.
    ///
    /// # Errors
    /// When a store does not answer. The next round tries again.
    async fn reconcile(&self, probe: &Probe) -> Result<bool, Error>;
}

/// Returns the pause between two rounds: half a lease, so that an overdue purchase waits no longer than that, within
/// fixed limits.
pub fn pause(lease: Duration) -> Duration {
    let [least, most] = PAUSE;
    (lease / 2).clamp(least, most)
}

/// Starts the reconciler of a strategy that is being opened. Dropping the handle stops it.
pub fn start(world: &World, strategy: Arc<impl Reconcile>) -> AbortOnDropHandle<()> {
    let pause = pause(world.timeouts.lease);
    world.start("reconciler", move |probe| async move {
        loop {
            match strategy.reconcile(&probe).await {
                Ok(true) => {}
                Ok(false) => probe.time().sleep(pause).await,
                Err(error) => {
                    tracing::warn!(%error, "overdue purchases are left for the next round");
                    probe.time().sleep(pause).await;
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_purchases_are_counted_by_item_until_the_item_is_forgotten() {
        let (one, other) = (Name::parse("one").unwrap(), Name::parse("other").unwrap());
        let reconciled = Reconciled::default();
        let counts = Counts::default();
        reconciled.count(&one, End::Finished, 40, &counts);
        reconciled.count(&one, End::Undone, 90, &counts);
        reconciled.count(&one, End::Undone, 20, &counts);
        let counted = Pending {
            open: 7,
            finished: 1,
            undone: 2,
            longest_ms: 90,
        };
        assert_eq!(reconciled.of(&one, 7), counted);
        assert_eq!(reconciled.of(&other, 0), Pending::default());
        reconciled.forget(&one);
        assert_eq!(reconciled.of(&one, 0), Pending::default());
    }

    #[test]
    fn the_pause_is_half_a_lease_within_limits() {
        let ms = Duration::from_millis;
        assert_eq!(pause(ms(1_000)), ms(500));
        assert_eq!(pause(ms(1)), ms(10));
        assert_eq!(pause(ms(600_000)), ms(1_000));
    }
}
