//! The long table: one row per strategy and threat.

use super::matrix::{latency, spread};
use super::table::{code, escaped, table};
use crate::audit::{Finding, Verdict};
use crate::result::cell::{Cell, Spread};
use crate::result::{RoundResult, RunResult};
use crate::shop::response::ResponseKind;

const HEADS: [&str; 19] = [
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
    "overlap",
    "longest wait ms",
    "Jain",
    "finished / undone (longest ms)",
    "sold ms",
    "sold out ms",
    "busy ms",
    "sales/s",
];

/// Findings that stand in a column of their own.
const HAVE_COLUMNS: [Finding; 2] = [Finding::Oversold, Finding::Undersold];

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
        code(cell.strategy),
        trial(cell),
        verdicts(cell),
        units(RoundResult::all_stock),
        units(|round| round.units(ResponseKind::Sold)),
        units(|round| round.facts.recorded),
        units(|round| round.findings.of(Finding::Oversold)),
        units(|round| round.findings.of(Finding::Undersold)),
        units(|round| round.units(ResponseKind::Busy)),
        units(|round| round.units(ResponseKind::Unknown)),
        others(cell),
        overlap(cell),
        longest_wait(cell),
        jain(cell),
        reconciled(cell),
        latency(cell, ResponseKind::Sold),
        latency(cell, ResponseKind::SoldOut),
        latency(cell, ResponseKind::Busy),
        Spread::of(cell.rounds.iter().map(|round| round.sales_per_s)).map_or("-".to_owned(), spread),
    ]
}

fn trial(cell: &Cell) -> String {
    let instances = match cell.instances {
        1 => "1 instance".to_owned(),
        many => format!("{many} instances"),
    };
    let items = match cell.rounds.first().map_or(1, |round| round.items) {
        1 => String::new(),
        many => format!(", {many} items"),
    };
    format!("{}, {instances}{items}", escaped(cell.threat))
}

fn verdicts(cell: &Cell) -> String {
    let counted = [
        (Verdict::Holds, "holds"),
        (Verdict::Violated, "violated"),
        (Verdict::Inconclusive, "inconclusive"),
    ];
    let counted = counted.map(|(verdict, kind)| (cell.count(verdict), kind));
    let said = counted.iter().filter(|(count, _)| *count > 0);
    let said: Vec<_> = said.map(|(count, kind)| format!("{kind} {count}")).collect();
    if said.is_empty() {
        "skipped".to_owned()
    } else {
        said.join(", ")
    }
}

/// Pairs of purchases that were inside at once, and the longest time in ms that two of them shared.
fn overlap(cell: &Cell) -> String {
    let overlaps = || cell.rounds.iter().filter_map(|round| round.findings.overlap);
    let pairs = Spread::of(overlaps().map(|overlap| overlap.pairs as f64));
    let longest = overlaps().map(|overlap| overlap.longest_us).max().unwrap_or(0);
    match pairs.map(spread) {
        Some(pairs) if longest > 0 => format!("{pairs} (to {:.1} ms)", longest as f64 / 1_000.0),
        Some(pairs) => pairs,
        None => "-".to_owned(),
    }
}

fn longest_wait(cell: &Cell) -> String {
    let longest = cell.rounds.iter().filter_map(|round| round.longest_wait_us).max();
    longest.map_or("-".to_owned(), |longest| format!("{:.1}", longest as f64 / 1_000.0))
}

fn jain(cell: &Cell) -> String {
    let median = Spread::of(cell.rounds.iter().filter_map(|round| round.jain));
    median.map_or("-".to_owned(), |jain| format!("{:.2}", jain.median))
}

/// What a reconciler finished and undid, and the longest time in ms that a purchase hung in between.
fn reconciled(cell: &Cell) -> String {
    let said = || cell.rounds.iter().filter_map(|round| round.reconciled);
    let finished = Spread::of(said().map(|did| did.finished as f64));
    let undone = Spread::of(said().map(|did| did.undone as f64));
    let longest = said().map(|did| did.longest_ms).max().unwrap_or(0);
    match (finished, undone) {
        (Some(finished), Some(undone)) => format!("{} / {} ({longest})", spread(finished), spread(undone)),
        _ => "-".to_owned(),
    }
}

/// Findings without a column of their own, with the largest size each one had; why a round was no test; and
/// how many were played once more, because of what.
fn others(cell: &Cell) -> String {
    let others = Finding::ALL
        .into_iter()
        .filter(|finding| !HAVE_COLUMNS.contains(finding));
    let largest = others.filter_map(|finding| {
        let sizes = cell.rounds.iter().map(|round| round.findings.of(finding));
        let size = sizes.max_by_key(|size| size.unsigned_abs()).filter(|size| *size != 0)?;
        Some(format!("{} {size}", finding.name().replace('_', " ")))
    });
    let mut said: Vec<String> = largest.collect();
    let inconclusive_reasons = cell.rounds.iter().find_map(|round| round.inconclusive.as_deref());
    said.extend(inconclusive_reasons.map(escaped));
    let before = cell.rounds.iter().flat_map(|round| &round.inconclusive_before);
    let before: Vec<&String> = before.collect();
    if let Some(why) = before.first() {
        said.push(format!("played once more {}: {}", before.len(), escaped(why)));
    }
    said.join("; ")
}
