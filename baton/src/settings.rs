//! The settings and their bounds.

use std::sync::Arc;
use std::time::Duration;

use crate::error::Error;
use crate::hook::Hook;

/// Bounds of every time: Redis counts in milliseconds, and a queue expires after a day.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_secs(86_400);

/// Each acquisition reserves this many fences, and scripts count exactly only up to 2^53.
const MAX_BATCH: u32 = 1_000;

/// Settings of a [`Baton`](crate::Baton). Times are from 1 ms to one day.
#[derive(Clone)]
pub struct Settings {
    /// How long the lock stays taken after the last renewal.
    pub lease: Duration,
    /// How long the lock stays taken before the first renewal. A waiter that dies as it gets the lock blocks it for
    /// this long. The lease caps it.
    pub grace: Duration,
    /// How often in a row this process may take the lock before another process gets it, from 1 to 1,000. With 1 the
    /// waiters of all processes are served in the order in which they came.
    pub batch: u32,
    /// How long to wait for an answer of Redis.
    pub answer_within: Duration,
    /// Runs around all background work: renewals, messages, and the release of dropped locks.
    pub hook: Option<Arc<dyn Hook>>,
}

impl Default for Settings {
    /// A lease of 10 s after a grace of 0.3 s, first come, first served, and 5 s for an answer.
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(10),
            grace: Duration::from_millis(300),
            batch: 1,
            answer_within: Duration::from_secs(5),
            hook: None,
        }
    }
}

impl Settings {
    /// Refuses settings with which no lock can work.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if !(1..=MAX_BATCH).contains(&self.batch) {
            let batch = self.batch;
            return Err(Error::Setting(format!(
                "the batch is {batch}: it must be from 1 to {MAX_BATCH}"
            )));
        }
        let times = [
            ("the lease", self.lease),
            ("the grace", self.grace),
            ("the time for an answer", self.answer_within),
        ];
        match times.iter().find(|(_, time)| !(SHORTEST..=LONGEST).contains(time)) {
            Some((what, time)) => Err(Error::Setting(format!(
                "{what} is {time:?}: it must be from {SHORTEST:?} to {LONGEST:?}"
            ))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_with_which_no_lock_can_work_are_refused() {
        let usual = Settings::default;
        let at_the_edge = Settings {
            lease: LONGEST,
            grace: SHORTEST,
            batch: MAX_BATCH,
            ..usual()
        };
        for good in [usual(), at_the_edge] {
            assert!(good.check().is_ok());
        }
        let none = Duration::ZERO;
        for bad in [
            Settings { batch: 0, ..usual() },
            Settings {
                batch: 1_001,
                ..usual()
            },
            Settings { lease: none, ..usual() },
            Settings { grace: none, ..usual() },
            Settings {
                answer_within: none,
                ..usual()
            },
            Settings {
                lease: Duration::MAX,
                ..usual()
            },
        ] {
            assert!(matches!(bad.check(), Err(Error::Setting(_))));
        }
    }
}
