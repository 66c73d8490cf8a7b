//! The sizes: waiters, instances and items.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::lock::LockRow;
use crate::lock::alternating::Situation;
use crate::lock::contention::Contention;

/// Numbers of tasks that contend for one lock, on as many instances as [`SIZE`] allows.
const WAITERS: [usize; 5] = [1, 8, 64, 256, 1_024];

/// Numbers of instances, with the waiters of [`SIZE`].
const INSTANCES: [usize; 3] = [1, 2, 4];

/// Numbers of items with their own locks, with the waiters of [`SIZE`].
const ITEMS: [usize; 4] = [10, 100, 1_000, 10_000];

/// The base size: one number grows at a time, and the others stay at this.
const SIZE: Size = Size {
    waiters: 64,
    instances: 8,
    items: 1,
};

/// How long the tasks ask for locks. Without a pause each task gets the lock often in that time, and the burst at the
/// start is a small part of it.
const LASTS: Duration = Duration::from_secs(1);

/// How long tasks that wait at the end may still get the lock.
const LINGERS: Duration = Duration::from_secs(1);

/// The parameters of a row.
#[derive(Clone, Debug, Serialize)]
pub struct Parameters {
    /// The name of the lock.
    pub lock: String,
    /// The size.
    #[serde(flatten)]
    pub size: Size,
}

/// Numbers of waiters, instances and items.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Size {
    /// The number of tasks on all instances.
    pub waiters: usize,
    /// The number of instances, each with its own connections.
    pub instances: usize,
    /// The number of items. A task draws one at random each time.
    pub items: usize,
}

impl Size {
    /// Returns all sizes. One number grows at a time.
    pub(super) fn all() -> Vec<Self> {
        let waiters = WAITERS.map(|waiters| Self {
            waiters,
            instances: SIZE.instances.min(waiters),
            ..SIZE
        });
        let instances = INSTANCES.map(|instances| Self { instances, ..SIZE });
        let items = ITEMS.map(|items| Self { items, ..SIZE });
        [&waiters[..], &instances, &items].concat()
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |count, of| format!("{count} {of}{}", if count == 1 { "" } else { "s" });
        let [waiters, instances, items] = [
            counted(self.waiters, "waiter"),
            counted(self.instances, "instance"),
            counted(self.items, "item"),
        ];
        write!(f, "{waiters}, {instances}, {items}")
    }
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.size.fmt(f)
    }
}

impl LockRow for Parameters {
    fn lock(&self) -> &str {
        &self.lock
    }
}

impl Situation for Size {
    type Parameters = Parameters;

    fn added(&self) -> Duration {
        Duration::ZERO
    }

    fn contention(&self) -> Contention {
        Contention {
            instances: self.instances,
            tasks: self.waiters / self.instances,
            items: self.items,
            think: Duration::ZERO,
            lasts: LASTS,
            lingers: LINGERS,
        }
    }

    fn parameters(&self, lock: &str) -> Parameters {
        Parameters {
            lock: lock.to_owned(),
            size: *self,
        }
    }
}
