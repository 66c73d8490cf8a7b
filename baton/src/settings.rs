//! How long things may take.

use std::sync::Arc;
use std::time::Duration;

use crate::around::Around;

/// How a [`Baton`](crate::Baton) works.
#[derive(Clone)]
pub struct Settings {
    /// How long a lock outlives a holder that no longer renews it.
    pub lease: Duration,
    /// How long it lives before its first renewal: so much is lost to a waiter that died as its turn came. Not longer than the
    /// lease, whatever is set.
    pub grace: Duration,
    /// How often in a row a lock is had inside this process before another process gets its turn, from 1. With 1 all waiters of
    /// all processes are served in the order in which they came.
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
