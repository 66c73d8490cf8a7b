//! The repeats of one strategy under one threat, taken together over all phases.

use std::cmp::Reverse;

use crate::audit::{Finding, Verdict};
use crate::phase::Phase;
use crate::result::{RoundResult, RunResult};

/// The number of harmless rounds of each phase after which a failure that was expected counts as absent: an accident may
/// stay away a few times.
pub const HARMLESS: usize = 5;

/// The number of violated rounds after which such a threat is not tried any more in the same phase: one failure may be
/// an accident, and two are enough to know.
pub const FAILED_FOR_SURE: usize = 2;

/// The threat under which the cost of a strategy is shown: the one that the project is about.
pub const COST_UNDER: &str = "second-instance";

/// The result of comparing a claim with its repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimCheck {
    /// A promise was kept in every repeat, an expected failure came at least once, or nothing was claimed.
    AsDesigned,
    /// A promise was broken, or an expected failure never came in [`HARMLESS`] rounds or more.
    NotAsDesigned,
    /// At least one repeat was no test or was left out, and no other one decides, or there were too few repeats.
    Inconclusive,
    /// No repeat was played.
    Skipped,
    /// No repeat can be played in this deployment.
    NotPlayable,
}

impl ClaimCheck {
    /// Returns the value of `as_designed` in `result.json`: `None` while nothing is decided.
    pub fn as_designed(self) -> Option<bool> {
        match self {
            Self::AsDesigned => Some(true),
            Self::NotAsDesigned => Some(false),
            Self::Inconclusive | Self::Skipped | Self::NotPlayable => None,
        }
    }
}

/// A cell of the matrix: the rounds of one strategy under one threat on one number of instances, in every phase.
pub struct Cell<'a> {
    /// `mechanism@store`
    pub strategy: &'a str,
    /// The kind of its mechanism, if the shop names it.
    pub family: Option<&'a str>,
    /// Name of the threat or control.
    pub threat: &'a str,
    /// Instances behind the proxy.
    pub instances: usize,
    /// Whether the strategy promises to survive this.
    pub claimed: bool,
    /// Whether it says that this breaks it now and then.
    pub sometimes_broken: bool,
    /// Whether it says nothing of this threat.
    pub undeclared: bool,
    /// The repeats that were played.
    pub rounds: Vec<&'a RoundResult>,
    /// The reason why repeats were not played, although they could be.
    pub skipped: Option<&'a str>,
    /// The reason why no repeat can be played in this deployment.
    pub not_playable: Option<&'a str>,
}

impl<'a> Cell<'a> {
    /// Returns all cells of a run, in the order of their first rounds.
    pub fn all(run: &'a RunResult) -> Vec<Self> {
        let mut cells: Vec<Self> = Vec::new();
        for round in &run.rounds {
            let same = |cell: &&mut Self| {
                cell.strategy == round.strategy && cell.threat == round.threat && cell.instances == round.instances
            };
            let cell = match cells.iter_mut().find(same) {
                Some(cell) => cell,
                None => {
                    cells.push(Self {
                        strategy: &round.strategy,
                        family: round.family.as_deref(),
                        threat: &round.threat,
                        instances: round.instances,
                        claimed: round.claimed,
                        sometimes_broken: round.sometimes_broken,
                        undeclared: round.undeclared,
                        rounds: Vec::new(),
                        skipped: None,
                        not_playable: None,
                    });
                    cells.last_mut().expect("one was just pushed")
                }
            };
            match (&round.skipped, &round.not_playable) {
                (None, None) => cell.rounds.push(round),
                (Some(why), _) => cell.skipped = Some(why),
                (None, Some(why)) => cell.not_playable = Some(why),
            }
        }
        cells
    }

    /// Returns whether it shows the cost of its strategy.
    pub fn is_cost(&self) -> bool {
        self.threat == COST_UNDER
    }

    /// Returns what a table says instead of a verdict where no repeat was played.
    pub fn unplayed(&self) -> &'static str {
        match self.claim_check() {
            ClaimCheck::NotPlayable => "not playable here",
            _ => "skipped",
        }
    }

    /// Returns how many repeats ended with `verdict`.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rounds.iter().filter(|round| round.verdict == verdict).count()
    }

    /// Returns whether it was played and every repeat holds.
    pub fn holds(&self) -> bool {
        !self.rounds.is_empty() && self.count(Verdict::Holds) == self.rounds.len()
    }

    /// Returns the gravest finding of all repeats, and the largest of its kind; `None` if there is no finding.
    pub fn gravest(&self) -> Option<(Finding, i64)> {
        let found = self.rounds.iter().flat_map(|round| round.findings.found());
        found.min_by_key(|(finding, size)| (*finding, Reverse(size.unsigned_abs())))
    }

    /// Returns the longest time in which no buyer could buy, over all repeats, in seconds.
    pub fn busy_s(&self) -> Option<f64> {
        self.rounds
            .iter()
            .filter_map(|round| round.busy_s)
            .max_by(f64::total_cmp)
    }

    /// Returns whether two purchases were seen to hold the lock of one item at the same time.
    pub fn overlaps(&self) -> bool {
        let mut overlaps = self.rounds.iter().filter_map(|round| round.findings.overlap);
        overlaps.any(|overlap| overlap.pairs > 0)
    }

    /// Returns the phases in which it was violated, for a sentence: `before the write`. `None` where it holds or was
    /// played in no phase.
    pub fn broken_in(&self) -> Option<String> {
        let phases = |is: fn(&RoundResult) -> bool| -> Vec<Phase> {
            let rounds = || self.rounds.iter().filter(|round| is(round));
            let has = |phase: &Phase| rounds().any(|round| round.phase == Some(*phase));
            Phase::ALL.into_iter().filter(has).collect()
        };
        let played = phases(|_| true);
        let broken = phases(|round| round.verdict == Verdict::Violated);
        match broken.as_slice() {
            [] => None,
            [_, _, ..] if broken.len() == played.len() => Some("in every phase".to_owned()),
            broken => {
                let words: Vec<_> = broken.iter().map(ToString::to_string).collect();
                Some(words.join(" and "))
            }
        }
    }

    /// Returns the number of repeats: those of the phase that has the fewest.
    pub fn repeats(&self) -> usize {
        let repeats = |phase| self.rounds.iter().filter(|round| round.phase == phase).count();
        self.rounds.iter().map(|round| repeats(round.phase)).min().unwrap_or(0)
    }

    /// Compares the claim with the repeats.
    pub fn claim_check(&self) -> ClaimCheck {
        if self.rounds.is_empty() {
            return match (self.skipped, self.not_playable) {
                (None, Some(_)) => ClaimCheck::NotPlayable,
                _ => ClaimCheck::Skipped,
            };
        }
        if (self.sometimes_broken || self.undeclared) && self.count(Verdict::Inconclusive) < self.rounds.len() {
            return ClaimCheck::AsDesigned;
        }
        match (
            self.claimed,
            self.count(Verdict::Violated),
            self.count(Verdict::Inconclusive),
        ) {
            (true, 1.., _) => ClaimCheck::NotAsDesigned,
            (false, 1.., _) => ClaimCheck::AsDesigned,
            (_, 0, 1..) => ClaimCheck::Inconclusive,
            (true, 0, 0) if self.skipped.is_some() => ClaimCheck::Inconclusive,
            (true, 0, 0) => ClaimCheck::AsDesigned,
            (false, 0, 0) if self.repeats() < HARMLESS => ClaimCheck::Inconclusive,
            (false, 0, 0) => ClaimCheck::NotAsDesigned,
        }
    }
}

/// Returns every strategy of these cells, in the order of their first rounds.
pub fn strategies<'a>(cells: &[Cell<'a>]) -> Vec<&'a str> {
    let mut strategies = Vec::new();
    for cell in cells {
        if !strategies.contains(&cell.strategy) {
            strategies.push(cell.strategy);
        }
    }
    strategies
}

/// Returns every threat of these cells with each number of instances, in the order of their first rounds.
pub fn columns<'a>(cells: &[Cell<'a>]) -> Vec<(&'a str, usize)> {
    let mut columns = Vec::new();
    for cell in cells {
        if !columns.contains(&(cell.threat, cell.instances)) {
            columns.push((cell.threat, cell.instances));
        }
    }
    columns
}

/// Returns the worst claim check of all cells. A run with a cell that was skipped, or that ended early, is no success. Cells that
/// cannot be played in this deployment count only where there are no others.
pub fn claim_check(run: &RunResult) -> ClaimCheck {
    let cells = Cell::all(run);
    let has = |check| cells.iter().any(|cell| cell.claim_check() == check);
    if has(ClaimCheck::NotAsDesigned) {
        ClaimCheck::NotAsDesigned
    } else if has(ClaimCheck::Inconclusive) || run.ended_early.is_some() {
        ClaimCheck::Inconclusive
    } else if has(ClaimCheck::Skipped) || cells.is_empty() {
        ClaimCheck::Skipped
    } else if cells.iter().all(|cell| cell.claim_check() == ClaimCheck::NotPlayable) {
        ClaimCheck::NotPlayable
    } else {
        ClaimCheck::AsDesigned
    }
}

/// Median, minimum and maximum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The middle value, or the mean of the two middle values.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// Returns the spread of the values; `None` if there is none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
        Some(Self {
            median: f64::midpoint(low, high),
            min,
            max,
        })
    }
}

/// Returns the largest probability of a violation that `rounds` rounds without one leave open, at 95 % confidence.
pub fn upper_bound_95(rounds: usize) -> f64 {
    1.0 - 0.05_f64.powf(1.0 / rounds as f64)
}
