//! What is measured.

use serde::Serialize;

use crate::row::median;

/// What one run gives, and the medians of several.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// How often the lock was taken in a second, by all together.
    pub acquisitions_per_s: f64,
    /// From the moment at which a holder sends its release, while others wait, until the next one knows that it has the
    /// lock, in measured round trips: the middle one. None where nothing was handed over.
    pub handoff_rtt_p50: Option<f64>,
    /// The same: that which one in a hundred exceeds.
    pub handoff_rtt_p99: Option<f64>,
    /// The round trip as it was measured before the run, in ms.
    pub measured_rtt_ms: f64,
    /// Commands that Redis was sent for each time that the lock was taken, without those that scripts call. None where
    /// it was never taken.
    pub commands_per_acquisition: Option<f64>,
    /// The longest that a task waited for the lock, also in vain, in ms.
    pub longest_wait_ms: f64,
    /// Jain's index of how often each task was served: 1 is all alike, 1 / tasks is one alone.
    pub jain: f64,
    /// How often two were inside at once, or a fence did not rise; of several runs the sum, since no median may hide one.
    /// None where nobody has anything to himself.
    pub violations: Option<u64>,
}

impl Figures {
    /// The medians of some runs; none of none.
    pub fn medians(runs: &[Figures]) -> Option<Figures> {
        let of = |figure: fn(&Figures) -> f64| median(runs.iter().map(figure));
        let of_some = |figure: fn(&Figures) -> Option<f64>| median(runs.iter().filter_map(figure));
        Some(Figures {
            acquisitions_per_s: of(|run| run.acquisitions_per_s)?,
            handoff_rtt_p50: of_some(|run| run.handoff_rtt_p50),
            handoff_rtt_p99: of_some(|run| run.handoff_rtt_p99),
            measured_rtt_ms: of(|run| run.measured_rtt_ms)?,
            commands_per_acquisition: of_some(|run| run.commands_per_acquisition),
            longest_wait_ms: of(|run| run.longest_wait_ms)?,
            jain: of(|run| run.jain)?,
            violations: runs.iter().map(|run| run.violations).sum(),
        })
    }
}
