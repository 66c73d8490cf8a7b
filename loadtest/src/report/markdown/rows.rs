//! The long table: one row per strategy and threat.

use super::matrix::{latency, spread};
use super::table::table;
use crate::audit::Verdict;
use crate::cell::{Cell, Spread};
use crate::result::{RoundResult, RunResult};
use crate::told::Word;

const HEADS: [&str; 15] = [
    "strategy",
    "trial",
    "verdicts",
    "stock",
    "sold",
    "recorded",
    "oversold",
    "undersold",
    "busy",
    "unknown",
    "other findings",
    "sold ms",
    "sold out ms",
    "busy ms",
    "sales/s",
];

pub(super) fn rows(run: &RunResult) -> String {
    let rows = Cell::all(run).iter().map(row).collect();
    table(HEADS.map(str::to_owned).to_vec(), rows)
}

fn row(cell: &Cell) -> Vec<String> {
    let units = |of: fn(&RoundResult) -> i64| {
        let sizes = Spread::of(cell.rounds.iter().map(|round| of(round) as f64));
        sizes.map_or("-".to_owned(), spread)
    };
    vec![
        format!("`{}`", cell.strategy),
        trial(cell),
        verdicts(cell),
        units(|round| round.stock),
        units(|round| round.units(Word::Sold)),
        units(|round| round.facts.recorded),
        units(|round| round.findings.oversold),
        units(|round| round.findings.undersold),
        units(|round| round.units(Word::Busy)),
        units(|round| round.units(Word::Unknown)),
        others(cell),
        latency(cell, Word::Sold),
        latency(cell, Word::SoldOut),
        latency(cell, Word::Busy),
        Spread::of(cell.rounds.iter().map(|round| round.sales_per_s)).map_or("-".to_owned(), spread),
    ]
}

fn trial(cell: &Cell) -> String {
    match cell.instances {
        1 => format!("{}, 1 instance", cell.threat),
        many => format!("{}, {many} instances", cell.threat),
    }
}

fn verdicts(cell: &Cell) -> String {
    let counted = [
        (Verdict::Holds, "holds"),
        (Verdict::Violated, "violated"),
        (Verdict::Inconclusive, "inconclusive"),
    ];
    let counted = counted.map(|(verdict, word)| (cell.count(verdict), word));
    let said = counted.iter().filter(|(count, _)| *count > 0);
    let said: Vec<_> = said.map(|(count, word)| format!("{word} {count}")).collect();
    if said.is_empty() {
        "skipped".to_owned()
    } else {
        said.join(", ")
    }
}

/// Findings without a column of their own, with the largest size each one had; and why a round was no test.
fn others(cell: &Cell) -> String {
    let mut said: Vec<String> = Vec::new();
    for name in ["lost", "ghost", "drift", "duplicate", "stuck", "overlap"] {
        let sizes = cell.rounds.iter().flat_map(|round| round.findings.named());
        let largest = sizes
            .filter(|(other, _)| *other == name)
            .max_by_key(|(_, units)| units.abs());
        said.extend(largest.map(|(name, units)| format!("{name} {units}")));
    }
    said.extend(cell.rounds.iter().find_map(|round| round.inconclusive.clone()));
    said.join("; ")
}
