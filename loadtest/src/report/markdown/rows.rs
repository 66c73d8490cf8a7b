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

/// Findings with their own column.
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
    let seen = counted.iter().filter(|(count, _)| *count > 0);
    let seen: Vec<_> = seen.map(|(count, kind)| format!("{kind} {count}")).collect();
    if seen.is_empty() {
        return cell.unplayed().to_owned();
    }
    let phase = cell.broken_in().map_or_else(String::new, |phase| format!(" ({phase})"));
    seen.join(", ") + &phase
}

/// Returns the pairs of purchases that held the lock at one time, and their longest common time in ms.
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

/// Returns the purchases that a reconciler finished and undid, and the longest time in ms that one waited for it.
fn reconciled(cell: &Cell) -> String {
    let counts = || cell.rounds.iter().filter_map(|round| round.reconciled);
    let finished = Spread::of(counts().map(|count| count.finished as f64));
    let undone = Spread::of(counts().map(|count| count.undone as f64));
    let longest = counts().map(|count| count.longest_ms).max().unwrap_or(0);
    match (finished, undone) {
        (Some(finished), Some(undone)) => format!("{} / {} ({longest})", spread(finished), spread(undone)),
        _ => "-".to_owned(),
    }
}

/// Returns the findings without their own column, each with its largest size; the reasons of a round that was not played and of an
/// inconclusive one; and the number of rounds that were played once more, with their reason.
fn others(cell: &Cell) -> String {
    let others = Finding::ALL
        .into_iter()
        .filter(|finding| !HAVE_COLUMNS.contains(finding));
    let largest = others.filter_map(|finding| {
        let sizes = cell.rounds.iter().map(|round| round.findings.of(finding));
        let size = sizes.max_by_key(|size| size.unsigned_abs()).filter(|size| *size != 0)?;
        Some(format!("{} {size}", finding.name().replace('_', " ")))
    });
    let mut parts: Vec<String> = largest.collect();
    let reason = cell.rounds.iter().find_map(|round| round.inconclusive.as_deref());
    parts.extend(
        cell.skipped
            .into_iter()
            .chain(cell.not_playable)
            .chain(reason)
            .map(escaped),
    );
    let before = cell.rounds.iter().flat_map(|round| &round.inconclusive_before);
    let before: Vec<&String> = before.collect();
    if let Some(why) = before.first() {
        parts.push(format!("played once more {}: {}", before.len(), escaped(why)));
    }
    parts.join("; ")
}
