//! Counts of an instance's locks and reconcilers, for its metrics.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

/// Creates a histogram of times from 0.2 ms to 6.5 s.
pub(crate) fn seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.0002, 2.0, 16))
}

/// The counts of one instance since its start.
pub struct Counts {
    lock_wait: Histogram,
    lost_leases: Counter,
    reconciled: Family<[(&'static str, &'static str); 1], Counter>,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            lock_wait: seconds(),
            lost_leases: Counter::default(),
            reconciled: Family::default(),
        }
    }
}

impl Counts {
    /// Counts a purchase that asked for its lock, whether it was taken or not, with the time until that was known.
    pub fn lock_wait(&self, took: Duration) {
        self.lock_wait.observe(took.as_secs_f64());
    }

    /// Counts a holder whose lease had ended before it released its lock.
    pub fn lost_lease(&self) {
        self.lost_leases.inc();
    }

    /// Counts a purchase that a reconciler ended: `finished` or `undone`.
    pub fn reconciled(&self, end: &'static str) {
        self.reconciled.get_or_create(&[("end", end)]).inc();
    }

    /// Registers them.
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register_with_unit(
            "lock_wait",
            "Time from the first request for a lock until it was taken or given up",
            Unit::Seconds,
            self.lock_wait.clone(),
        );
        registry.register(
            "lost_leases",
            "Locks whose lease had ended before their holder released them",
            self.lost_leases.clone(),
        );
        registry.register(
            "reconciled",
            "Purchases that a reconciler ended, by their end",
            self.reconciled.clone(),
        );
    }
}
