//! The observations of one run, and their figures.

use std::time::Duration;

use super::figures::Figures;

/// The observations of one task.
#[derive(Clone, Copy, Debug, Default)]
pub struct TaskSample {
    /// How often the task got the lock.
    pub acquisitions: u64,
    /// How many of these acquisitions were before the end of the run.
    pub in_time: u64,
    /// The longest wait for the lock, including a wait that failed.
    pub longest_wait: Duration,
}

/// The observations of one run.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The length of the run.
    pub lasted: Duration,
    /// The observations of each task.
    pub tasks: Vec<TaskSample>,
    /// How long each handoff to a waiting task took.
    pub handoffs: Vec<Duration>,
    /// How often two tasks were inside at once, or a fence did not rise. None for a contender that is no lock.
    pub violations: Option<u64>,
    /// The number of commands that Redis received.
    pub commands: u64,
}

impl Sample {
    /// Computes the figures. `round_trip` is the unit of handoffs.
    pub fn figures(&self, round_trip: Duration) -> Figures {
        let of_tasks = |count: fn(&TaskSample) -> u64| self.tasks.iter().map(count);
        let acquisitions: u64 = of_tasks(|task| task.acquisitions).sum();
        let in_time: u64 = of_tasks(|task| task.in_time).sum();
        let longest = self.tasks.iter().map(|task| task.longest_wait).max();
        let mut handoffs = self.handoffs.clone();
        handoffs.sort();
        // Only a lock has handoffs.
        let handoff = |part: f64| {
            self.violations?;
            let rank = (part * handoffs.len() as f64).ceil() as usize;
            let handoff = handoffs.get(rank.saturating_sub(1))?;
            Some(handoff.as_secs_f64() / round_trip.as_secs_f64())
        };
        Figures {
            acquisitions_per_s: in_time as f64 / self.lasted.as_secs_f64(),
            handoff_rtt_p50: handoff(0.50),
            handoff_rtt_p99: handoff(0.99),
            measured_rtt_ms: in_ms(round_trip),
            commands_per_acquisition: (acquisitions > 0).then(|| self.commands as f64 / acquisitions as f64),
            longest_wait_ms: in_ms(longest.unwrap_or_default()),
            jain: jain(of_tasks(|task| task.in_time)),
            violations: self.violations,
        }
    }
}

fn in_ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

/// Jain's index: the square of the sum, divided by the sum of the squares and by the number of tasks.
fn jain(counts: impl Iterator<Item = u64>) -> f64 {
    let (mut all, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for count in counts.map(|count| count as f64) {
        all += 1.0;
        sum += count;
        squares += count * count;
    }
    if squares == 0.0 {
        1.0
    } else {
        sum * sum / (all * squares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_shares_give_1_and_a_single_winner_gives_1_divided_by_the_number() {
        assert_eq!(jain([5, 5, 5, 5].into_iter()), 1.0);
        assert_eq!(jain([0, 9, 0, 0].into_iter()), 0.25);
    }

    #[test]
    fn throughput_counts_acquisitions_in_time_and_commands_are_per_acquisition() {
        let task = |acquisitions, in_time| TaskSample {
            acquisitions,
            in_time,
            longest_wait: Duration::from_millis(acquisitions),
        };
        let sample = Sample {
            lasted: Duration::from_millis(500),
            tasks: vec![task(4, 3), task(6, 5)],
            handoffs: (1..=100).rev().map(Duration::from_millis).collect(),
            violations: Some(0),
            commands: 30,
        };
        let figures = sample.figures(Duration::from_millis(10));
        assert_eq!(figures.acquisitions_per_s, 16.0);
        assert_eq!(figures.commands_per_acquisition, Some(3.0));
        assert_eq!(
            (figures.handoff_rtt_p50, figures.handoff_rtt_p99),
            (Some(5.0), Some(9.9))
        );
        assert_eq!(figures.longest_wait_ms, 6.0);
    }
}
