//! The end of a run on a terminal: the verdict, and a line for each strategy.

use anstyle::{AnsiColor, Style};

use crate::result::RunResult;
use crate::result::soak_totals::sums;
use crate::result::summary::{Outcome, Row, explanations, rows, sentence};
use crate::text::{MAX_NAME, one_line};

/// The least width of the summary, in columns. A wider terminal shows more of long texts.
pub const NARROWEST: usize = 80;

/// The width of the other columns: the mark, sales per second, milliseconds and the gaps.
const OTHERS: usize = 21;

/// The least room for a name. A longer one has its own line where the texts beside it need the room.
const LEAST_NAME: usize = 17;

/// Shows a run in lines of at most `width` columns, or [`NARROWEST`] if that is more. `colour` permits escape codes;
/// they are never the only sign of anything.
pub fn screen(run: &RunResult, colour: bool, width: usize) -> String {
    let rows = rows(run);
    let mut lines = vec![sentence(run, &rows), String::new()];
    lines.extend(warnings(run));
    if let Some(sums) = sums(run) {
        lines.extend(sums);
        lines.push(String::new());
    }
    let widths = Widths::of(&rows, width.max(NARROWEST));
    lines.push(widths.line("", "", "", &["sales/s".to_owned(), "ms".to_owned()], Style::new()));
    lines.extend(rows.iter().map(|row| line(row, colour, &widths)));
    lines.push(String::new());
    lines.extend(explanations(run));
    lines.join("\n") + "\n"
}

/// The widths of the columns with texts: the longest text, as far as there is room.
struct Widths {
    name: usize,
    happened: usize,
}

impl Widths {
    fn of(rows: &[Row], width: usize) -> Self {
        let longest = |text: fn(&Row) -> &String| rows.iter().map(|row| text(row).chars().count()).max().unwrap_or(0);
        let room = width - OTHERS;
        let happened = longest(|row| &row.happened).min(room - LEAST_NAME);
        let name = longest(|row| &row.strategy).min(room - happened);
        Self { name, happened }
    }

    fn line(&self, mark: &str, name: &str, happened: &str, [sales, ms]: &[String; 2], style: Style) -> String {
        let Self {
            name: name_width,
            happened: width,
        } = *self;
        let happened = fitted(happened, width);
        let line = format!("{style}{mark:<2} {name:<name_width$} {happened:<width$}{style:#} {sales:>8} {ms:>7}");
        line.trim_end().to_owned()
    }
}

fn line(row: &Row, colour: bool, widths: &Widths) -> String {
    let (mark, style) = match row.outcome {
        Outcome::Holds => ("ok", AnsiColor::Green.on_default()),
        Outcome::Fails => ("x", AnsiColor::Red.on_default()),
        Outcome::NoTest => ("??", AnsiColor::Yellow.on_default()),
        Outcome::Skipped => ("-", Style::new().dimmed()),
        Outcome::NotAsClaimed => ("!!", AnsiColor::Red.on_default().bold()),
    };
    let style = if colour { style } else { Style::new() };
    let name = one_line(&row.strategy, MAX_NAME);
    if name.len() <= widths.name {
        return widths.line(mark, &name, &row.happened, &row.cost, style);
    }
    let rest = widths.line("", "", &row.happened, &row.cost, style);
    format!("{style}{mark:<2} {name}{style:#}\n{rest}")
}

/// Cuts a text that is longer than `width`, the three dots included.
fn fitted(text: &str, width: usize) -> String {
    let longest = if text.chars().count() > width { width - 3 } else { width };
    one_line(text, longest)
}

/// Returns the reasons why a run is not whole: its early end, and the trials that were not played.
fn warnings(run: &RunResult) -> Vec<String> {
    let early = run
        .ended_early
        .iter()
        .map(|why| format!("Ended early: {}", one_line(why, 200)));
    let mut warnings: Vec<String> = early.collect();
    let skipped = run
        .rounds
        .iter()
        .filter_map(|round| Some(("Skipped", round.skipped.as_ref()?)));
    let not_playable = run
        .rounds
        .iter()
        .filter_map(|round| Some(("Not playable here", round.not_playable.as_ref()?)));
    for (what, why) in skipped.chain(not_playable) {
        let line = format!("{what}: {}", one_line(why, 200));
        if !warnings.contains(&line) {
            warnings.push(line);
        }
    }
    if !warnings.is_empty() {
        warnings.push(String::new());
    }
    warnings
}
