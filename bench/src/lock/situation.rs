//! How hard locks are contended for, how far from Redis, and how long.

use std::fmt;
use std::time::Duration;

use super::contention::Contention;
use super::figures::Parameters;

/// Instances and tasks of each.
const SHAPES: [(usize, usize); 2] = [(8, 4), (32, 1)];

/// What is added to a round trip, in ms, and how long a run lasts then, in ms: long enough that each task is served some
/// times, or chance decides how evenly.
const DISTANCES: [(u64, u64); 3] = [(0, 300), (1, 400), (10, 1_500)];

/// How long a task stays away after each release, in ms.
const THINKS: [u64; 2] = [40, 0];

/// How long those may still be served who wait when time is up: enough for all but those who starve.
const LINGERS: Duration = Duration::from_secs(1);

/// One of them.
pub(super) struct Situation {
    instances: usize,
    tasks: usize,
    rtt_ms: u64,
    think_ms: u64,
    lasts_ms: u64,
}

impl Situation {
    /// Every one of them.
    pub(super) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for (instances, tasks) in SHAPES {
            for (rtt_ms, lasts_ms) in DISTANCES {
                all.extend(THINKS.map(|think_ms| Self {
                    instances,
                    tasks,
                    rtt_ms,
                    think_ms,
                    lasts_ms,
                }));
            }
        }
        all
    }

    /// What is added to a round trip.
    pub(super) fn added(&self) -> Duration {
        Duration::from_millis(self.rtt_ms)
    }

    /// As a run is told.
    pub(super) fn contention(&self) -> Contention {
        Contention {
            instances: self.instances,
            tasks: self.tasks,
            think: Duration::from_millis(self.think_ms),
            lasts: Duration::from_millis(self.lasts_ms),
            lingers: LINGERS,
        }
    }

    /// As a result tells.
    pub(super) fn parameters(&self, lock: &str) -> Parameters {
        Parameters {
            lock: lock.to_owned(),
            instances: self.instances,
            tasks: self.tasks,
            rtt_ms: self.rtt_ms,
            think_ms: self.think_ms,
        }
    }
}

impl fmt::Display for Situation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parameters("").fmt(f)
    }
}
