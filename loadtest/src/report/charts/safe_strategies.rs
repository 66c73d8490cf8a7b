//! The strategies that hold and their cost, for both charts.

use crate::result::cell::{Cell, Spread};
use crate::result::conclusion::{Conclusion, Conclusions};

/// A strategy that holds in every trial, except where its store lost data.
pub(super) struct SafeStrategy<'a> {
    pub(super) strategy: &'a str,
    /// The rounds of the trial that measures cost.
    pub(super) cell: &'a Cell<'a>,
    /// Units sold per second.
    pub(super) sales_per_s: Spread,
}

/// Returns the strategies of a run, each once.
pub(super) fn strategies<'a>(cells: &'a [Cell<'a>]) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for cell in cells {
        if !found.contains(&cell.strategy) {
            found.push(cell.strategy);
        }
    }
    found
}

/// Returns every strategy that holds, the fastest first.
pub(super) fn safe_strategies<'a>(cells: &'a [Cell<'a>]) -> Vec<SafeStrategy<'a>> {
    let conclusions = Conclusions::of(cells);
    let held = |cell: &Cell| matches!(conclusions.of_cell(cell), Conclusion::Holds | Conclusion::DataLoss);
    let mut found = Vec::new();
    for strategy in strategies(cells) {
        let mut own = cells.iter().filter(|cell| cell.strategy == strategy);
        if !own.clone().all(held) {
            continue;
        }
        let Some(cell) = own.find(|cell| cell.is_cost()) else {
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
