//! How hard the tasks contend, how far they are from Redis, and how long.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

use super::alternating::Situation;
use super::contention::Contention;
use super::table::LockRow;

/// Instances, and the tasks of each.
const SHAPES: [(usize, usize); 2] = [(8, 4), (32, 1)];

/// The delay that is added to a round trip, and the length of a run, in ms. A run is long enough that each task gets
/// the lock several times: otherwise chance decides how even the shares are.
const DISTANCES: [(u64, u64); 3] = [(0, 300), (1, 400), (10, 1_500)];

/// The pause of a task after each release, in ms.
const THINKS: [u64; 2] = [40, 0];

/// How long tasks that wait at the end may still get the lock: enough for all tasks that do not starve.
const LINGERS: Duration = Duration::from_secs(1);

/// The parameters of a row.
#[derive(Clone, Debug, Serialize)]
pub struct Parameters {
    /// The name of the lock.
    pub lock: String,
    /// The number of instances, each with its own connections.
    pub instances: usize,
    /// The number of tasks of each instance.
    pub tasks: usize,
    /// The delay that is added to a round trip to Redis, in ms.
    pub rtt_ms: u64,
    /// The pause of a task after each release, in ms.
    pub think_ms: u64,
}

/// Shows all parameters but the lock.
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
            0 => write!(f, ", no pause"),
            ms => write!(f, ", {ms} ms pause"),
        }
    }
}

impl LockRow for Parameters {
    fn lock(&self) -> &str {
        &self.lock
    }
}

pub(super) struct LockSituation {
    instances: usize,
    tasks: usize,
    rtt_ms: u64,
    think_ms: u64,
    lasts_ms: u64,
}

impl LockSituation {
    /// Returns all situations.
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

impl Situation for LockSituation {
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

impl fmt::Display for LockSituation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parameters("").fmt(f)
    }
}
