//! The figures of a lock.

use serde::Serialize;

use crate::row::median;

/// The figures of one run, or the medians of several.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// Acquisitions per second, by all tasks together.
    pub acquisitions_per_s: f64,
    /// The median time of a handoff, in measured round trips: from the moment when a holder sends its release while
    /// others wait, to the moment when the next task knows that it has the lock. None without a handoff.
    pub handoff_rtt_p50: Option<f64>,
    /// The 99th percentile of the same.
    pub handoff_rtt_p99: Option<f64>,
    /// The round trip that was measured before the run, in ms.
    pub measured_rtt_ms: f64,
    /// Commands that Redis received per acquisition, without those that scripts call. None without an acquisition.
    pub commands_per_acquisition: Option<f64>,
    /// The longest wait of a task, including waits that failed, in ms.
    pub longest_wait_ms: f64,
    /// Jain's index of the acquisitions per task: 1 means equal shares, 1 / tasks means that one task had them all.
    pub jain: f64,
    /// How often two tasks were inside at once, or a fence did not rise. Several runs have the sum, because a median
    /// could hide one. None for a contender that is no lock.
    pub violations: Option<u64>,
}

impl Figures {
    /// Returns the medians of some runs, or None without runs.
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
