//! The outcome of each strategy in a run, over all its trials.

use std::cmp::Reverse;

use crate::audit::{Finding, Verdict};
use crate::result::RunResult;
use crate::result::cell::{COST_UNDER, Cell, ClaimCheck, Spread, claim_check, strategies, upper_bound_95};
use crate::shop::response::ResponseKind;
use crate::threats;

/// The outcome of a strategy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It held in every round.
    Holds,
    /// It failed where it claims nothing.
    Fails,
    /// Some rounds were inconclusive, and no other round decides.
    NoTest,
    /// No round was played.
    Skipped,
    /// It held where it should fail, or failed where it should hold.
    NotAsClaimed,
}

/// The line of one strategy.
#[derive(Clone, Debug)]
pub struct Row {
    /// `mechanism@store`, from the catalogue of the shop.
    pub strategy: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The outcome in a few words: the worst failure, or the number of rounds in which it held.
    pub happened: String,
    /// Sales per second, and the median time of a sale in ms: medians over the repeats. Empty in a soak and where
    /// nothing was sold.
    pub cost: [String; 2],
}

/// Returns every strategy of a run, in the order of their first rounds.
pub fn rows(run: &RunResult) -> Vec<Row> {
    let cells = Cell::all(run);
    let strategies = strategies(&cells);
    let mut rows: Vec<Row> = strategies.iter().map(|strategy| Row::of(strategy, &cells)).collect();
    if run.soak.is_some() {
        // Its rounds run side by side, each with its own load.
        rows.iter_mut().for_each(|row| row.cost = Default::default());
    }
    rows
}

impl Row {
    fn of(strategy: &str, cells: &[Cell]) -> Self {
        let own: Vec<&Cell> = cells.iter().filter(|cell| cell.strategy == strategy).collect();
        let wrong = own.iter().find(|cell| cell.claim_check() == ClaimCheck::NotAsDesigned);
        // The gravest finding; among equal ones the largest.
        let violated = own.iter().filter_map(|cell| Some((cell.gravest()?, cell)));
        let worst = violated.min_by_key(|((finding, size), _)| (*finding, Reverse(size.unsigned_abs())));
        let unclear = own.iter().find(|cell| cell.claim_check() == ClaimCheck::Inconclusive);
        let rounds: usize = own.iter().map(|cell| cell.rounds.len()).sum();
        let (outcome, happened) = match (wrong, worst, unclear) {
            (Some(wrong), ..) => (Outcome::NotAsClaimed, wrongly(wrong)),
            (None, Some((found, cell)), _) => (Outcome::Fails, failed(found, cell)),
            (None, None, Some(cell)) => (Outcome::NoTest, format!("no test: {}", under(cell))),
            (None, None, None) if rounds == 0 => (Outcome::Skipped, unplayed(&own)),
            (None, None, None) => (Outcome::Holds, format!("holds in all {rounds} rounds")),
        };
        let cost = own.iter().find(|cell| cell.is_cost());
        Self {
            strategy: strategy.to_owned(),
            outcome,
            happened,
            cost: cost.map_or_else(Default::default, |cell| [sales_per_s(cell), median_ms(cell)]),
        }
    }
}

/// Returns the gravest finding of a cell, with its threat and the phases that broke it.
fn failed((finding, size): (Finding, i64), cell: &Cell) -> String {
    let stock = cell.rounds.first().map_or(0, |round| round.all_stock());
    let what = match finding {
        Finding::Oversold => format!("{} sold of {stock}", stock.saturating_add(size)),
        Finding::Stuck => "stuck: nobody can buy".to_owned(),
        other => format!("{}: {}", other.name().replace('_', " "), size.unsigned_abs()),
    };
    let phase = cell.broken_in().map_or_else(String::new, |phase| format!(", {phase}"));
    format!("{what}, {}{phase}", under(cell))
}

/// Returns why no round of a strategy was played. What could be there comes before what never can.
fn unplayed(cells: &[&Cell]) -> String {
    match cells.iter().find_map(|cell| cell.skipped) {
        Some(why) => format!("skipped: {why}"),
        None => {
            let why = cells.iter().find_map(|cell| cell.not_playable).unwrap_or_default();
            format!("not playable here: {why}")
        }
    }
}

fn wrongly(cell: &Cell) -> String {
    match cell.gravest() {
        Some(found) => failed(found, cell),
        None => format!("holds where it should fail: {}", under(cell)),
    }
}

fn under(cell: &Cell) -> String {
    threats::find(cell.threat).map_or_else(|| cell.threat.to_owned(), |threat| threat.title_on(cell.instances))
}

fn sales_per_s(cell: &Cell) -> String {
    let sales = Spread::of(cell.rounds.iter().map(|round| round.sales_per_s));
    sales.map_or_else(String::new, |sales| format!("{:.0}", sales.median))
}

/// Returns the median over the repeats of the median time of a sale.
fn median_ms(cell: &Cell) -> String {
    let latencies = cell
        .rounds
        .iter()
        .filter_map(|round| round.latency_us.get(&ResponseKind::Sold));
    let p50 = Spread::of(latencies.map(|latency| latency.p50 as f64 / 1_000.0));
    p50.map_or_else(String::new, |p50| format!("{:.1}", p50.median))
}

/// Returns the verdict of a run in a sentence.
pub fn sentence(run: &RunResult, rows: &[Row]) -> String {
    let count = |outcome| rows.iter().filter(|row| row.outcome == outcome).count();
    let all = rows.len();
    match claim_check(run) {
        ClaimCheck::AsDesigned => format!(
            "As claimed: of {all} strategies {} held in every round, {} failed.",
            count(Outcome::Holds),
            count(Outcome::Fails)
        ),
        ClaimCheck::NotAsDesigned => format!(
            "{} of {all} strategies did not do what they claim: see !!",
            count(Outcome::NotAsClaimed)
        ),
        ClaimCheck::Inconclusive if run.ended_early.is_some() => "The run ended early: it decides nothing.".to_owned(),
        ClaimCheck::Inconclusive => "Some rounds decide nothing: see ??".to_owned(),
        ClaimCheck::Skipped => "Some trials were skipped: nothing is decided about them.".to_owned(),
        ClaimCheck::NotPlayable => "None of these trials can be played here: nothing is decided.".to_owned(),
    }
}

/// Explains the figures.
pub fn explanations(run: &RunResult) -> Vec<String> {
    let cells = Cell::all(run);
    let mut lines = Vec::new();
    if let Some(round) = run.rounds.iter().find(|round| round.threat == COST_UNDER)
        && run.soak.is_none()
    {
        lines.push(format!(
            "On {} instances {} buyers ask for {} units, and the stock is {}.",
            round.instances,
            round.buyers,
            round.demand,
            round.stock_in_words(),
        ));
        lines.push("sales/s and ms (the median time of a sale) are of these rounds.".to_owned());
        lines.push(format!(
            "At most {} units can be oversold there. Faults have a stock of their own.",
            round.demand.saturating_sub(round.all_stock()).max(0)
        ));
    }
    if run.environment.is_elsewhere() && run.rounds.iter().any(|round| round.instances > 1) {
        lines.push("The shop was started elsewhere: instances are as it names them.".to_owned());
    }
    let again = run.rounds.iter().filter(|round| !round.inconclusive_before.is_empty());
    match again.count() {
        0 => {}
        1 => lines.push("1 round decided nothing by chance and was played again.".to_owned()),
        many => lines.push(format!(
            "{many} rounds decided nothing by chance and were played again."
        )),
    }
    lines.extend(no_proof(run, &cells));
    lines
}

/// Returns the share of rounds that may still fail although none did: of the repeats of one cell, or of all rounds of a
/// soak, which were drawn from one set.
fn no_proof(run: &RunResult, cells: &[Cell]) -> Option<String> {
    let is_clean = |cell: &Cell| cell.count(Verdict::Violated) == 0;
    let repeats = cells.iter().map(Cell::repeats);
    let played = cells.iter().map(|cell| cell.rounds.len());
    let (rounds, is_clean) = match run.soak {
        None => (repeats.max().unwrap_or(0), cells.iter().any(is_clean)),
        Some(_) => (played.sum(), cells.iter().all(is_clean)),
    };
    if rounds == 0 || !is_clean {
        return None;
    }
    let percent = upper_bound_95(rounds) * 100.0;
    let clean = match rounds {
        1 => "1 clean round does".to_owned(),
        many => format!("{many} clean rounds do"),
    };
    Some(match run.soak {
        None => {
            format!("{clean} not exclude a failure in up to {percent:.0} % of rounds.")
        }
        Some(_) => format!("{clean} not exclude a failure in up to {percent:.1} % of rounds."),
    })
}
