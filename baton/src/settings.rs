//! How long things may take.

use std::sync::Arc;
use std::time::Duration;

use crate::around::Around;
use crate::error::Error;

/// Of every time: Redis counts in milliseconds, and keeps a queue for a day.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_secs(86_400);

/// Each lock reserves so many fences, and scripts count exactly up to 2^53 only.
const MAX_BATCH: u32 = 1_000;

/// How a [`Baton`](crate::Baton) works. Times are from 1 ms to one day.
#[derive(Clone)]
pub struct Settings {
    /// How long a lock outlives a holder that no longer renews it.
    pub lease: Duration,
    /// How long it lives before its first renewal: so much is lost to a waiter that died as its turn came. Not longer than the
    /// lease, whatever is set.
    pub grace: Duration,
    /// How often in a row a lock is had inside this process before another process gets its turn, from 1 to 1,000. With 1 all
    /// waiters of all processes are served in the order in which they came.
    pub batch: u32,
    /// How long Redis may take to answer.
    pub answer_within: Duration,
    /// Stands around what is done beside the calls: renewals, messages, and the release of what was dropped.
    pub around: Option<Arc<dyn Around>>,
}

impl Default for Settings {
    /// A lease of 10 s after a grace of 0.3 s, first come first served, 5 s for an answer.
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(10),
            grace: Duration::from_millis(300),
            batch: 1,
            answer_within: Duration::from_secs(5),
            around: None,
        }
    }
}

impl Settings {
    /// Refuses what no lock can work with.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if !(1..=MAX_BATCH).contains(&self.batch) {
            let batch = self.batch;
            return Err(Error::Setting(format!(
                "a batch of {batch}: it is from 1 to {MAX_BATCH}"
            )));
        }
        let times = [
            ("a lease", self.lease),
            ("a grace", self.grace),
            ("an answer within", self.answer_within),
        ];
        match times.iter().find(|(_, time)| !(SHORTEST..=LONGEST).contains(time)) {
            Some((what, time)) => Err(Error::Setting(format!(
                "{what} of {time:?}: it is from {SHORTEST:?} to {LONGEST:?}"
            ))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_lock_can_work_with_is_refused() {
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
