//! What a person sees at the end of a run: one screen of at most 80 columns.

use anstyle::{AnsiColor, Style};

use crate::answer::Word;
use crate::audit::{Finding, Verdict};
use crate::cell::{COST_UNDER, Cell, ClaimCheck, Spread, claim_check, upper_bound_95};
use crate::result::RunResult;
use crate::text::one_line;
use crate::threats;

/// Characters of a strategy's name that are shown.
const NAME: usize = 21;

/// Characters of what happened to it.
const HAPPENED: usize = 37;

/// A run as one screen. `colour` says whether escape codes may be in it; they are never the only sign of anything.
pub fn screen(run: &RunResult, colour: bool) -> String {
    let cells = Cell::all(run);
    let mut strategies: Vec<&str> = Vec::new();
    for cell in &cells {
        if !strategies.contains(&cell.strategy) {
            strategies.push(cell.strategy);
        }
    }
    let rows: Vec<Row> = strategies.iter().map(|strategy| Row::of(strategy, &cells)).collect();
    let mut lines = vec![sentence(run, &rows), String::new()];
    lines.extend(warnings(run));
    lines.push(format!(
        "   {:<NAME$} {:<HAPPENED$} {:>8} {:>7}",
        "", "", "sales/s", "ms"
    ));
    lines.extend(rows.iter().map(|row| row.line(colour)));
    lines.push(String::new());
    lines.extend(explanations(run, &cells));
    lines.join("\n") + "\n"
}

/// One strategy.
struct Row {
    name: String,
    kind: Kind,
    happened: String,
    cost: [String; 2],
}

/// What became of a strategy, in all its trials together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Holds,
    Fails,
    NoTest,
    Skipped,
    /// It held where it should fail, or failed where it should hold.
    NotAsClaimed,
}

impl Row {
    fn of(strategy: &str, cells: &[Cell]) -> Self {
        let own: Vec<&Cell> = cells.iter().filter(|cell| cell.strategy == strategy).collect();
        let wrong = own.iter().find(|cell| cell.claim_check() == ClaimCheck::NotAsDesigned);
        // The gravest, and of equals the largest.
        let violated = own.iter().filter_map(|cell| Some((gravest(cell)?, cell)));
        let worst = violated.min_by_key(|((finding, size), _)| (*finding, -size.abs()));
        let unclear = own.iter().find(|cell| cell.claim_check() == ClaimCheck::Inconclusive);
        let rounds: usize = own.iter().map(|cell| cell.rounds.len()).sum();
        let (kind, happened) = match (wrong, worst, unclear) {
            (Some(wrong), ..) => (Kind::NotAsClaimed, wrongly(wrong)),
            (None, Some((found, cell)), _) => (Kind::Fails, failed(found, cell)),
            (None, None, Some(cell)) => (Kind::NoTest, format!("no test: {}", under(cell))),
            (None, None, None) if rounds == 0 => (Kind::Skipped, "skipped".to_owned()),
            (None, None, None) => (Kind::Holds, format!("holds in all {rounds} rounds")),
        };
        let cost = own.iter().find(|cell| cell.threat == COST_UNDER);
        Self {
            name: one_line(strategy, NAME),
            kind,
            happened: one_line(&happened, HAPPENED),
            cost: cost.map_or_else(Default::default, |cell| [sales_per_s(cell), median_ms(cell)]),
        }
    }

    fn line(&self, colour: bool) -> String {
        let (mark, style) = match self.kind {
            Kind::Holds => ("ok", AnsiColor::Green.on_default()),
            Kind::Fails => ("x ", AnsiColor::Red.on_default()),
            Kind::NoTest => ("??", AnsiColor::Yellow.on_default()),
            Kind::Skipped => ("- ", Style::new().dimmed()),
            Kind::NotAsClaimed => ("!!", AnsiColor::Red.on_default().bold()),
        };
        let style = if colour { style } else { Style::new() };
        let [sales, ms] = &self.cost;
        let text = format!("{mark} {:<NAME$} {:<HAPPENED$}", self.name, self.happened);
        format!("{style}{text}{style:#} {sales:>8} {ms:>7}")
            .trim_end()
            .to_owned()
    }
}

fn gravest(cell: &Cell) -> Option<(Finding, i64)> {
    let found = cell.rounds.iter().flat_map(|round| round.findings.found());
    found.min_by_key(|(finding, size)| (*finding, -size.abs()))
}

/// What went wrong at its worst, and where.
fn failed((finding, size): (Finding, i64), cell: &Cell) -> String {
    let stock = cell.rounds.first().map_or(0, |round| round.stock);
    let what = match finding {
        Finding::Oversold => format!("oversold: {} of {stock}", stock + size),
        Finding::Stuck => "stuck: nobody can buy".to_owned(),
        other => format!("{}: {}", other.name().replace('_', " "), size.abs()),
    };
    format!("{what}, {}", under(cell))
}

fn wrongly(cell: &Cell) -> String {
    match gravest(cell) {
        Some(found) => failed(found, cell),
        None => format!("holds, and should not: {}", under(cell)),
    }
}

fn under(cell: &Cell) -> String {
    threats::find(cell.threat).map_or_else(|| cell.threat.to_owned(), |threat| threat.title(cell.instances))
}

/// The median of the repeats.
fn sales_per_s(cell: &Cell) -> String {
    let sales = Spread::of(cell.rounds.iter().map(|round| round.sales_per_s));
    sales.map_or_else(String::new, |sales| format!("{:.0}", sales.median))
}

/// The median over the repeats of the median time of a sale, in ms.
fn median_ms(cell: &Cell) -> String {
    let latencies = cell.rounds.iter().filter_map(|round| round.latency_us.get(&Word::Sold));
    let p50 = Spread::of(latencies.map(|latency| latency.p50 as f64 / 1_000.0));
    p50.map_or_else(String::new, |p50| format!("{:.1}", p50.median))
}

fn sentence(run: &RunResult, rows: &[Row]) -> String {
    let count = |kind| rows.iter().filter(|row| row.kind == kind).count();
    let (fail, hold) = (count(Kind::Fails), count(Kind::Holds));
    match claim_check(run) {
        ClaimCheck::AsDesigned => {
            format!(
                "{fail} of {} strategies fail where they claim nothing; {hold} hold in every round.",
                rows.len()
            )
        }
        ClaimCheck::NotAsDesigned => {
            format!(
                "{} of {} strategies did not do what they claim: see !!",
                count(Kind::NotAsClaimed),
                rows.len()
            )
        }
        ClaimCheck::Inconclusive if run.ended_early.is_some() => "The run ended early: it decides nothing.".to_owned(),
        ClaimCheck::Inconclusive => "Some rounds were no test, and nothing is decided by them: see ??".to_owned(),
        ClaimCheck::Skipped => "Some trials were skipped: nothing is decided about them.".to_owned(),
    }
}

fn warnings(run: &RunResult) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    reasons.extend(
        run.ended_early
            .iter()
            .map(|why| format!("Ended early: {}", one_line(why, 200))),
    );
    for why in run.rounds.iter().filter_map(|round| round.skipped.as_deref()) {
        let line = format!("Skipped: {}", one_line(why, 200));
        if !reasons.contains(&line) {
            reasons.push(line);
        }
    }
    if !reasons.is_empty() {
        reasons.push(String::new());
    }
    reasons
}

/// What the figures mean, each said once.
fn explanations(run: &RunResult, cells: &[Cell]) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(round) = run.rounds.iter().find(|round| round.threat == COST_UNDER) {
        lines.push(format!(
            "{} buyers ask for {} of {} units: {} is the most that can be oversold.",
            round.buyers,
            round.demand,
            round.stock,
            (round.demand - round.stock).max(0)
        ));
        lines.push(format!(
            "sales/s and the median time of a sale: on {} instances.",
            round.instances
        ));
    }
    let played = cells.iter().map(|cell| cell.rounds.len()).filter(|rounds| *rounds > 0);
    if let Some(rounds) = played.max()
        && cells.iter().any(|cell| cell.count(Verdict::Violated) == 0)
    {
        let percent = upper_bound_95(rounds) * 100.0;
        lines.push(format!(
            "{rounds} clean rounds are no proof: what fails in {percent:.0} of 100 may still have stayed away."
        ));
    }
    lines
}
