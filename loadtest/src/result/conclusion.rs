//! What the rounds of a strategy say under some threats, in one word: does it fail, or did its store lose what it was given?

use std::collections::BTreeMap;

use crate::audit::{Finding, Findings, Verdict};
use crate::result::RoundResult;
use crate::result::cell::Cell;
use crate::threats;

/// What a strategy did under one threat or several: the gravest of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// It holds in every round.
    Holds,
    /// It fails by itself. The finding is the gravest one.
    Fails(Finding),
    /// Its store lost data that it had confirmed, and nothing else went wrong: no mechanism on that store can prevent it.
    DataLoss,
    /// At least one round decides nothing.
    NoTest,
    /// No round was played.
    NotTried,
}

/// The conclusions of one run.
pub struct Conclusions<'a> {
    cells: &'a [Cell<'a>],
    /// How many confirmed units a store lost in a round, by the threat that empties it.
    units_lost: BTreeMap<&'a str, i64>,
}

impl<'a> Conclusions<'a> {
    /// Of all cells of a run.
    pub fn of(cells: &'a [Cell<'a>]) -> Self {
        let mut losses: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
        for cell in cells {
            if emptied_store(cell.threat) == Some(stores(cell.strategy)) {
                let lost = cell.rounds.iter().map(|round| round.findings.of(Finding::Lost));
                losses.entry(cell.threat).or_default().extend(lost);
            }
        }
        let median = |mut lost: Vec<i64>| {
            lost.sort_unstable();
            lost.get(lost.len() / 2).copied().unwrap_or(0)
        };
        Self {
            cells,
            units_lost: losses
                .into_iter()
                .map(|(threat, lost)| (threat, median(lost)))
                .collect(),
        }
    }

    /// What a strategy did under all these threats together.
    pub fn under(&self, strategy: &str, threats: &[&str]) -> Conclusion {
        let own = |cell: &&Cell| cell.strategy == strategy && threats.contains(&cell.threat);
        let all = self.cells.iter().filter(own).map(|cell| self.of_cell(cell));
        all.fold(Conclusion::NotTried, Conclusion::worse)
    }

    /// What the rounds of one cell say.
    pub fn of_cell(&self, cell: &Cell) -> Conclusion {
        if cell.rounds.is_empty() {
            return Conclusion::NoTest;
        }
        let violated = || cell.rounds.iter().filter(|round| round.verdict == Verdict::Violated);
        match cell.gravest() {
            Some(_) if violated().all(|round| self.is_data_loss(round)) => Conclusion::DataLoss,
            Some((finding, _)) => Conclusion::Fails(finding),
            None if cell.holds() => Conclusion::Holds,
            None => Conclusion::NoTest,
        }
    }

    /// Whether the store's loss explains all that went wrong: it sold again at most the units that it had forgotten. Where
    /// the orders lie in another store, their number does not show that; other strategies of the run do.
    fn is_data_loss(&self, round: &RoundResult) -> bool {
        let stores = stores(&round.strategy);
        // Stock stands first. Where only the lock was in the store, the mechanism itself relied on it.
        if emptied_store(&round.threat).is_none_or(|emptied| stores.split('+').next() != Some(emptied)) {
            return false;
        }
        let lost = if stores.contains('+') {
            self.units_lost.get(round.threat.as_str()).copied().unwrap_or(0)
        } else {
            round.findings.of(Finding::Lost)
        };
        round.findings.of(Finding::Oversold) <= lost && !fails_otherwise(&round.findings)
    }
}

impl Conclusion {
    fn worse(self, other: Self) -> Self {
        match (self, other) {
            (Self::Fails(one), Self::Fails(another)) => Self::Fails(one.min(another)),
            (one, another) if one.gravity() >= another.gravity() => one,
            (_, another) => another,
        }
    }

    fn gravity(self) -> u8 {
        match self {
            Self::NotTried => 0,
            Self::Holds => 1,
            Self::NoTest => 2,
            Self::DataLoss => 3,
            Self::Fails(_) => 4,
        }
    }
}

/// Whether anything went wrong that no loss of data explains.
fn fails_otherwise(findings: &Findings) -> bool {
    use Finding::{Duplicate, FalseRefusal, Stuck, Undersold};
    [Duplicate, Stuck, Undersold, FalseRefusal]
        .into_iter()
        .any(|finding| findings.of(finding) != 0)
}

/// The stores of stock and orders: what stands behind the `@`.
pub fn stores(strategy: &str) -> &str {
    strategy.split_once('@').map_or("", |(_, stores)| stores)
}

/// The store that loses data under a threat: the threat's name begins with it.
fn emptied_store(threat: &str) -> Option<&str> {
    let known = threats::find(threat).filter(|known| known.empties_a_store)?;
    known.name.split('-').next()
}
