//! The conclusion about a strategy under some threats, in one word. It tells a failure of the strategy from a loss of
//! data in its store.

use std::collections::BTreeMap;

use crate::audit::{Finding, Findings, Verdict};
use crate::result::RoundResult;
use crate::result::cell::Cell;
use crate::threats;

/// The conclusion about a strategy under one threat or several: the gravest of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conclusion {
    /// It holds in every round.
    Holds,
    /// It fails by its own fault. The finding is the gravest one.
    Fails(Finding),
    /// Its store lost data that it had confirmed, and nothing else went wrong: no mechanism on that store can prevent
    /// it.
    DataLoss,
    /// At least one round decides nothing.
    NoTest,
    /// No round was played.
    NotTried,
}

/// The conclusions of one run.
pub struct Conclusions<'a> {
    cells: &'a [Cell<'a>],
    /// The confirmed units that a store lost in a round, by the threat that empties it.
    units_lost: BTreeMap<&'a str, i64>,
}

impl<'a> Conclusions<'a> {
    /// Draws the conclusions from all cells of a run.
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

    /// Returns the conclusion about a strategy under all these threats together.
    pub fn under(&self, strategy: &str, threats: &[&str]) -> Conclusion {
        let own = |cell: &&Cell| cell.strategy == strategy && threats.contains(&cell.threat);
        let all = self.cells.iter().filter(own).map(|cell| self.of_cell(cell));
        all.fold(Conclusion::NotTried, Conclusion::worse)
    }

    /// Returns the conclusion from the rounds of one cell.
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

    /// Whether the store's loss explains all findings: at most the units that it had lost were sold again. Where the
    /// orders are in another store, their number does not show the loss. Then other strategies of the run show it.
    fn is_data_loss(&self, round: &RoundResult) -> bool {
        let stores = stores(&round.strategy);
        // Where only the lock was lost, the mechanism fails by its own fault.
        if emptied_store(&round.threat).is_none_or(|emptied| stores.split('+').all(|store| store != emptied)) {
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

/// Whether there is a finding that a loss of data does not explain.
fn fails_otherwise(findings: &Findings) -> bool {
    use Finding::{Duplicate, FalseRefusal, Stuck, Unavailable, Undersold};
    [Duplicate, Stuck, Unavailable, Undersold, FalseRefusal]
        .into_iter()
        .any(|finding| findings.of(finding) != 0)
}

/// Returns the stores of stock and orders: the part of the name after the `@`.
pub fn stores(strategy: &str) -> &str {
    strategy.split_once('@').map_or("", |(_, stores)| stores)
}

/// Returns the store that loses data under a threat. The name of the threat begins with it.
fn emptied_store(threat: &str) -> Option<&str> {
    let known = threats::find(threat).filter(|known| known.empties_a_store)?;
    known.name.split('-').next()
}
