//! How hard locks are contended for, how far from Redis, and how long.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::alternating::Situation;
use super::contention::Contention;
use super::table::Tried;

/// Instances and tasks of each.
const SHAPES: [(usize, usize); 2] = [(8, 4), (32, 1)];

/// What is added to a round trip, in ms, and how long a run lasts then, in ms: long enough that each task is served some
/// times, or chance decides how evenly.
const DISTANCES: [(u64, u64); 3] = [(0, 300), (1, 400), (10, 1_500)];

/// How long a task stays away after each release, in ms.
const THINKS: [u64; 2] = [40, 0];

/// How long those may still be served who wait when time is up: enough for all but those who starve.
const LINGERS: Duration = Duration::from_secs(1);

/// What was tried.
#[derive(Clone, Debug, Serialize)]
pub struct Parameters {
    /// Which lock.
    pub lock: String,
    /// Instances, each with connections of its own.
    pub instances: usize,
    /// Tasks of each instance.
    pub tasks: usize,
    /// What is added to a round trip to Redis, in ms.
    pub rtt_ms: u64,
    /// How long a task stays away after each release, in ms.
    pub think_ms: u64,
}

/// All but the lock.
impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            instances,
            tasks,
            rtt_ms,
            think_ms,
            ..
        } = self;
        write!(f, "{instances} x {tasks}, {rtt_ms} ms added")?;
        match think_ms {
            0 => write!(f, ", hot"),
            ms => write!(f, ", {ms} ms of thought"),
        }
    }
}

impl Tried for Parameters {
    fn lock(&self) -> &str {
        &self.lock
    }
}

/// One of them.
pub(super) struct Situated {
    instances: usize,
    tasks: usize,
    rtt_ms: u64,
    think_ms: u64,
    lasts_ms: u64,
}

impl Situated {
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
}

impl Situation for Situated {
    type Parameters = Parameters;

    fn added(&self) -> Duration {
        Duration::from_millis(self.rtt_ms)
    }

    fn contention(&self) -> Contention {
        Contention {
            instances: self.instances,
            tasks: self.tasks,
            items: 1,
            think: Duration::from_millis(self.think_ms),
            lasts: Duration::from_millis(self.lasts_ms),
            lingers: LINGERS,
        }
    }

    fn parameters(&self, lock: &str) -> Parameters {
        Parameters {
            lock: lock.to_owned(),
            instances: self.instances,
            tasks: self.tasks,
            rtt_ms: self.rtt_ms,
            think_ms: self.think_ms,
        }
    }
}

impl fmt::Display for Situated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parameters("").fmt(f)
    }
}
