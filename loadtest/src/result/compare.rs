//! Comparison of two runs: changed verdicts, changed costs, and differences that limit the comparison.

use crate::audit::Verdict;
use crate::result::RunResult;
use crate::result::cell::{COST_UNDER, Cell, Spread};
use crate::text::{MAX_NAME, one_line};
use crate::threats;

/// The most characters of a strategy's name that are shown.
const NAME: usize = 21;

/// The comparison of two runs.
pub struct Comparison {
    /// The text, in lines of at most 80 characters.
    pub text: String,
    /// Whether a verdict changed, or one of the runs lacks a cell of the other.
    pub has_changed: bool,
}

/// Compares `after` with `before`.
pub fn compare(before: &RunResult, after: &RunResult) -> Comparison {
    let (old, new) = (Cell::all(before), Cell::all(after));
    let differences = differences(before, after);
    let changes = changes(&old, &new);
    let mut lines: Vec<String> = differences.iter().map(|what| format!("Not the same {what}")).collect();
    if !lines.is_empty() {
        lines.push("The ratios below compare these, too.".to_owned());
        lines.push(String::new());
    }
    match changes.as_slice() {
        [] => lines.push("No verdict changed.".to_owned()),
        changes => lines.extend(changes.iter().map(|change| {
            let [strategy, trial, change] = change.in_words();
            format!("{:<NAME$} {trial:<16} {change}", one_line(&strategy, NAME))
        })),
    }
    let costs: Vec<String> = new.iter().filter_map(|cell| cost(cell, &old)).collect();
    if !costs.is_empty() {
        lines.push(String::new());
        let heads = ["before", "after", "ratio", "between"];
        let [before, after, ratio, between] = heads;
        lines.push(format!(
            "{:<NAME$} {before:>9} {after:>9} {ratio:>7}  {between}",
            "sales/s"
        ));
        lines.extend(costs);
    }
    Comparison {
        text: lines.join("\n") + "\n",
        has_changed: !changes.is_empty(),
    }
}

fn differences(before: &RunResult, after: &RunResult) -> Vec<String> {
    let on = |run: &RunResult| {
        let on = &run.environment;
        let load = run.rounds.iter().find(|round| round.threat == COST_UNDER);
        let load = load.or(run.rounds.first()).map(|round| {
            format!(
                "{} buyers, {} of {} units, {} ms",
                round.buyers,
                round.demand,
                round.stock_in_words(),
                round.work_ms
            )
        });
        [
            ("machine", format!("{} x {}, {} MiB", on.cpus, on.cpu, on.memory_mib)),
            ("system", format!("{}, {}", on.os, on.kernel)),
            ("redis", on.redis.clone()),
            ("mariadb", on.mariadb.clone()),
            ("postgresql", on.postgresql.clone().unwrap_or_default()),
            ("redis cluster", on.redis_cluster.clone().unwrap_or_default()),
            ("nginx", on.nginx.clone().unwrap_or_default()),
            ("oversell", on.oversell.clone()),
            (
                "certificates",
                if on.insecure { "not checked" } else { "checked" }.to_owned(),
            ),
            ("load", load.unwrap_or_default()),
        ]
    };
    let pairs = on(before).into_iter().zip(on(after));
    let differ = pairs.filter(|((_, old), (_, new))| old != new);
    let lines = differ.map(|((what, old), (_, new))| {
        let [old, new] = [old, new].map(|text| one_line(&text, 200));
        format!("{what}:\n  before  {old}\n  after   {new}")
    });
    lines.collect()
}

/// A cell whose verdict changed, or that one of the runs lacks.
pub(crate) struct Change<'a, 'r> {
    pub(crate) before: Option<&'a Cell<'r>>,
    pub(crate) after: Option<&'a Cell<'r>>,
}

/// Returns the changes, in the order of the newer run, and then the cells that it lacks.
pub(crate) fn changes<'a, 'r>(old: &'a [Cell<'r>], new: &'a [Cell<'r>]) -> Vec<Change<'a, 'r>> {
    let of_new = new.iter().map(|cell| Change {
        before: same(cell, old),
        after: Some(cell),
    });
    let gone = old.iter().filter(|cell| same(cell, new).is_none());
    let gone = gone.map(|cell| Change {
        before: Some(cell),
        after: None,
    });
    of_new.chain(gone).filter(Change::is_one).collect()
}

impl Change<'_, '_> {
    fn is_one(&self) -> bool {
        let [before, after] = [self.before, self.after].map(|cell| cell.map(|cell| verdict(cell).0));
        before != after
    }

    /// Returns the strategy, its trial, and both verdicts.
    pub(crate) fn in_words(&self) -> [String; 3] {
        let cell = self.after.or(self.before);
        let strategy = cell.map_or_else(String::new, |cell| one_line(cell.strategy, MAX_NAME));
        let trial = cell.map_or_else(String::new, |cell| {
            threats::find(cell.threat)
                .map_or_else(|| one_line(cell.threat, 16), |threat| threat.title_on(cell.instances))
        });
        let said =
            |cell: Option<&Cell<'_>>, without: &str| cell.map_or_else(|| without.to_owned(), |cell| verdict(cell).1);
        let change = format!(
            "{} -> {}",
            said(self.before, "not there before"),
            said(self.after, "not there any more")
        );
        [strategy, trial, change]
    }
}

fn same<'a, 'b>(cell: &Cell<'_>, cells: &'a [Cell<'b>]) -> Option<&'a Cell<'b>> {
    let key = |cell: &Cell<'_>| (cell.strategy.to_owned(), cell.threat.to_owned(), cell.instances);
    cells.iter().find(|other| key(other) == key(cell))
}

/// Returns the verdict of the repeats, and its text with their numbers.
fn verdict(cell: &Cell<'_>) -> (Option<Verdict>, String) {
    let all = cell.rounds.len();
    let count = |verdict| cell.count(verdict);
    match (count(Verdict::Violated), count(Verdict::Inconclusive)) {
        _ if all == 0 => (None, cell.unplayed().to_owned()),
        (0, 0) => (Some(Verdict::Holds), format!("holds {all}/{all}")),
        (0, unclear) => (Some(Verdict::Inconclusive), format!("no test {unclear}/{all}")),
        (violated, _) => {
            let found = cell.rounds.iter().flat_map(|round| round.findings.found());
            let gravest = found.map(|(finding, _)| finding).min();
            let name = gravest.map_or_else(String::new, |finding| finding.name().replace('_', " "));
            (Some(Verdict::Violated), format!("{name} {violated}/{all}"))
        }
    }
}

/// Returns a line with the change in sales per second, and the bounds of their ratio over all repeats.
fn cost(cell: &Cell<'_>, old: &[Cell<'_>]) -> Option<String> {
    if !cell.is_cost() {
        return None;
    }
    let speed = |cell: &Cell<'_>| Spread::of(cell.rounds.iter().map(|round| round.sales_per_s));
    let (before, after) = (speed(same(cell, old)?)?, speed(cell)?);
    if before.min <= 0.0 {
        return None;
    }
    Some(format!(
        "{:<NAME$} {:>9.0} {:>9.0} {:>7.2}  {:.2} and {:.2}, {} instances",
        one_line(cell.strategy, NAME),
        before.median,
        after.median,
        after.median / before.median,
        after.min / before.max,
        after.max / before.min,
        cell.instances
    ))
}
