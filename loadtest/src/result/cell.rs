//! The repeats of one strategy under one threat, taken together.

use crate::audit::{Finding, Verdict};
use crate::result::{RoundResult, RunResult};

/// Rounds in which a threat that a strategy does not claim to survive has to do no harm until that says anything: an
/// accident can stay away a few times.
pub const HARMLESS: usize = 5;

/// Rounds in which such a threat did harm after which it is not tried any more: what was never promised may fail once by an
/// accident, and twice is enough to know.
pub const FAILED_FOR_SURE: usize = 2;

/// Under which threat the cost of a strategy is shown: the one the project is about.
pub const COST_UNDER: &str = "second-instance";

/// What the repeats say of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimCheck {
    /// A promise was kept in every repeat, or what was never promised failed at least once; or nothing was said either way.
    AsDesigned,
    /// A promise was broken, or what was never promised held every time, in [`HARMLESS`] rounds or more.
    NotAsDesigned,
    /// At least one repeat was no test, and no other one decides; or there were too few.
    Inconclusive,
    /// Something was not played.
    Skipped,
}

impl ClaimCheck {
    /// As `result.json` has it: `None` while nothing is decided.
    pub fn as_designed(self) -> Option<bool> {
        match self {
            Self::AsDesigned => Some(true),
            Self::NotAsDesigned => Some(false),
            Self::Inconclusive | Self::Skipped => None,
        }
    }
}

/// A place in the matrix: the rounds of one strategy under one threat on so many instances.
pub struct Cell<'a> {
    /// `mechanism@store`
    pub strategy: &'a str,
    /// By what kind of mechanism it decides, where the shop says so.
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
}

impl<'a> Cell<'a> {
    /// All cells of a run, in the order of their first rounds.
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
                    });
                    cells.last_mut().expect("one was just pushed")
                }
            };
            if round.skipped.is_none() {
                cell.rounds.push(round);
            }
        }
        cells
    }

    /// How many repeats ended with `verdict`.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.rounds.iter().filter(|round| round.verdict == verdict).count()
    }

    /// Whether it was played, and every repeat holds.
    pub fn holds(&self) -> bool {
        !self.rounds.is_empty() && self.count(Verdict::Holds) == self.rounds.len()
    }

    /// The gravest finding of all repeats, and of equals the largest; `None` where nothing was found.
    pub fn gravest(&self) -> Option<(Finding, i64)> {
        let found = self.rounds.iter().flat_map(|round| round.findings.found());
        found.min_by_key(|(finding, size)| (*finding, -size.abs()))
    }

    /// The longest time of all repeats in which nobody could buy, in seconds.
    pub fn busy_s(&self) -> Option<f64> {
        self.rounds
            .iter()
            .filter_map(|round| round.busy_s)
            .max_by(f64::total_cmp)
    }

    /// Whether two purchases were seen to hold the lock of one item at the same time.
    pub fn overlaps(&self) -> bool {
        let mut overlaps = self.rounds.iter().filter_map(|round| round.findings.overlap);
        overlaps.any(|overlap| overlap.pairs > 0)
    }

    /// What the repeats say of the claim.
    pub fn claim_check(&self) -> ClaimCheck {
        if self.rounds.is_empty() {
            return ClaimCheck::Skipped;
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
            (true, 0, 0) => ClaimCheck::AsDesigned,
            (false, 0, 0) if self.rounds.len() < HARMLESS => ClaimCheck::Inconclusive,
            (false, 0, 0) => ClaimCheck::NotAsDesigned,
        }
    }
}

/// What a whole run says: the worst of its cells. What was skipped, or not played because the run ended early, is no
/// success.
pub fn claim_check(run: &RunResult) -> ClaimCheck {
    let cells = Cell::all(run);
    let has = |check| cells.iter().any(|cell| cell.claim_check() == check);
    if has(ClaimCheck::NotAsDesigned) {
        ClaimCheck::NotAsDesigned
    } else if has(ClaimCheck::Inconclusive) || run.ended_early.is_some() {
        ClaimCheck::Inconclusive
    } else if has(ClaimCheck::Skipped) || cells.is_empty() {
        ClaimCheck::Skipped
    } else {
        ClaimCheck::AsDesigned
    }
}

/// Median, minimum and maximum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The middle one; of two in the middle the mean.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Spread {
    /// Of at least one value; `None` of none.
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

/// The largest probability of a violation that `rounds` rounds without one still leave open, at 95 % confidence.
pub fn upper_bound_95(rounds: usize) -> f64 {
    1.0 - 0.05_f64.powf(1.0 / rounds as f64)
}
