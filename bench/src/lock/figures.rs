//! What is varied, and what is measured.

use serde::Serialize;

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

/// What one run gives, and the medians of several.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// How often the lock was taken in a second, by all together.
    pub acquisitions_per_s: f64,
    /// From the moment at which a holder sends its release, with others waiting, until the next one knows that it
    /// has the lock, in measured round trips; the middle one.
    pub handoff_rtt_p50: Option<f64>,
    /// The same, of one in a hundred.
    pub handoff_rtt_p99: Option<f64>,
    /// The round trip that was measured before the run, in ms.
    pub measured_rtt_ms: f64,
    /// Commands that Redis was sent for each time that the lock was taken; what scripts call is not counted.
    pub commands_per_acquisition: f64,
    /// The longest that a task waited for the lock, in ms.
    pub longest_wait_ms: f64,
    /// How evenly the tasks were served: 1 is all alike, 1 / tasks is one alone.
    pub jain: f64,
    /// How often two were inside at once, or a fence did not rise.
    pub violations: Option<f64>,
}
