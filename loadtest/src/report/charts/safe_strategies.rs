//! What both pictures look for: who held, and what it cost.

use crate::audit::Verdict;
use crate::result::cell::{COST_UNDER, Cell, Spread};

/// A strategy that held in every round of every trial.
pub(super) struct SafeStrategy<'a> {
    pub(super) strategy: &'a str,
    /// Its rounds in the trial under which cost is shown.
    pub(super) cell: &'a Cell<'a>,
    /// Units sold per second.
    pub(super) sales_per_s: Spread,
}

/// The strategies of a run, each once.
pub(super) fn strategies<'a>(cells: &'a [Cell<'a>]) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for cell in cells {
        if !found.contains(&cell.strategy) {
            found.push(cell.strategy);
        }
    }
    found
}

/// Everyone who held, the fastest first.
pub(super) fn safe_strategies<'a>(cells: &'a [Cell<'a>]) -> Vec<SafeStrategy<'a>> {
    let held = |cell: &Cell| !cell.rounds.is_empty() && cell.count(Verdict::Holds) == cell.rounds.len();
    let mut found = Vec::new();
    for strategy in strategies(cells) {
        let mut own = cells.iter().filter(|cell| cell.strategy == strategy);
        if !own.clone().all(held) {
            continue;
        }
        let Some(cell) = own.find(|cell| cell.threat == COST_UNDER) else {
            continue;
        };
        let sales = Spread::of(cell.rounds.iter().map(|round| round.sales_per_s));
        found.extend(sales.map(|sales_per_s| SafeStrategy {
            strategy,
            cell,
            sales_per_s,
        }));
    }
    found.sort_by(|one, other| other.sales_per_s.median.total_cmp(&one.sales_per_s.median));
    found
}

/// `of 5 rounds`, or `of 1 round`.
pub(super) fn of_rounds(cell: &Cell) -> String {
    match cell.rounds.len() {
        1 => "of 1 round".to_owned(),
        many => format!("of {many} rounds"),
    }
}
