//! What a person sees at the end of a run: one screen of at most 80 columns.

use anstyle::{AnsiColor, Style};

use crate::result::RunResult;
use crate::result::soak_totals::sums;
use crate::result::summary::{Outcome, Row, explanations, rows, sentence};
use crate::text::one_line;

/// The width of a strategy's name; a longer one takes from what happened.
const NAME: usize = 21;

/// The longest name that is shown whole.
const LONGEST_NAME: usize = 36;

/// The width of what happened to it.
const HAPPENED: usize = 37;

/// A run as one screen. `colour` says whether escape codes may be in it; they are never the only sign of anything.
pub fn screen(run: &RunResult, colour: bool) -> String {
    let rows = rows(run);
    let mut lines = vec![sentence(run, &rows), String::new()];
    lines.extend(warnings(run));
    if let Some(sums) = sums(run) {
        lines.extend(sums);
        lines.push(String::new());
    }
    lines.push(format!(
        "   {:<NAME$} {:<HAPPENED$} {:>8} {:>7}",
        "", "", "sales/s", "ms"
    ));
    lines.extend(rows.iter().map(|row| line(row, colour)));
    lines.push(String::new());
    lines.extend(explanations(run));
    lines.join("\n") + "\n"
}

fn line(row: &Row, colour: bool) -> String {
    let (mark, style) = match row.outcome {
        Outcome::Holds => ("ok", AnsiColor::Green.on_default()),
        Outcome::Fails => ("x ", AnsiColor::Red.on_default()),
        Outcome::NoTest => ("??", AnsiColor::Yellow.on_default()),
        Outcome::Skipped => ("- ", Style::new().dimmed()),
        Outcome::NotAsClaimed => ("!!", AnsiColor::Red.on_default().bold()),
    };
    let style = if colour { style } else { Style::new() };
    let name = fitted(&row.strategy, LONGEST_NAME);
    let width = NAME + HAPPENED - name.len().max(NAME);
    let happened = fitted(&row.happened, width);
    let [sales, ms] = &row.cost;
    let line = format!("{style}{mark} {name:<NAME$} {happened:<width$}{style:#} {sales:>8} {ms:>7}");
    line.trim_end().to_owned()
}

/// Cut to `width` where it is longer, the three dots included.
fn fitted(text: &str, width: usize) -> String {
    let longest = if text.chars().count() > width { width - 3 } else { width };
    one_line(text, longest)
}

/// What must not be overlooked: a run that is not whole, and what was skipped.
fn warnings(run: &RunResult) -> Vec<String> {
    let early = run
        .ended_early
        .iter()
        .map(|why| format!("Ended early: {}", one_line(why, 200)));
    let mut warnings: Vec<String> = early.collect();
    for why in run.rounds.iter().filter_map(|round| round.skipped.as_deref()) {
        let line = format!("Skipped: {}", one_line(why, 200));
        if !warnings.contains(&line) {
            warnings.push(line);
        }
    }
    if !warnings.is_empty() {
        warnings.push(String::new());
    }
    warnings
}
