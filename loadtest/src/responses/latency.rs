//! Latency from the intended start to the last byte. It includes the time before the purchase could be sent.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// The distribution of a latency, in microseconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct Latency {
    /// Responses counted.
    pub n: u64,
    /// Median.
    pub p50: u64,
    /// 95th percentile.
    pub p95: u64,
    /// 99th percentile.
    pub p99: u64,
    /// 99.9th percentile.
    pub p99_9: u64,
    /// The longest.
    pub max: u64,
}

impl Latency {
    /// Summarizes any number of durations.
    pub fn of(latencies: impl Iterator<Item = Duration>) -> Self {
        // 1 us to 60 s in three significant digits: a fixed size for any input.
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 60_000_000, 3).expect("the bounds are in order");
        latencies.for_each(|latency| histogram.saturating_record(latency.as_micros() as u64));
        Self {
            n: histogram.len(),
            p50: histogram.value_at_quantile(0.5),
            p95: histogram.value_at_quantile(0.95),
            p99: histogram.value_at_quantile(0.99),
            p99_9: histogram.value_at_quantile(0.999),
            max: histogram.max(),
        }
    }
}
