//! How many there are of each.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use crate::lock::Tried;
use crate::lock::alternating::Situation;
use crate::lock::contention::Contention;

/// Tasks that want one lock, on as many instances as there may be.
const WAITERS: [usize; 5] = [1, 8, 64, 256, 1_024];

/// Instances for as many waiters as in [`SIZE`].
const INSTANCES: [usize; 3] = [1, 2, 4];

/// Items, each with a lock of its own, for as many waiters.
const ITEMS: [usize; 4] = [10, 100, 1_000, 10_000];

/// What grows in one direction stays at this in the others.
const SIZE: Size = Size {
    waiters: 64,
    instances: 8,
    items: 1,
};

/// How long they come: without a pause, each is served often in that, and what it costs that all of them ask at one moment in
/// the beginning is a small part of it.
const LASTS: Duration = Duration::from_secs(1);

/// How long those may still be served who wait then.
const LINGERS: Duration = Duration::from_secs(1);

/// What was tried.
#[derive(Clone, Debug, Serialize)]
pub struct Parameters {
    /// Which lock.
    pub lock: String,
    /// How many it is.
    #[serde(flatten)]
    pub size: Size,
}

/// How many there are of each.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Size {
    /// Tasks, over all instances.
    pub waiters: usize,
    /// Instances, each with connections of its own.
    pub instances: usize,
    /// Items, of which a task draws one each time.
    pub items: usize,
}

impl Size {
    /// Every one of them: one grows at a time.
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

impl Tried for Parameters {
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
