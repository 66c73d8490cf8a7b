//! The shortest table: one row for each kind of mechanism, and what became of its first strategy.

use super::table::{code, escaped, table};
use super::with_warning;
use crate::result::RunResult;
use crate::summary::{Outcome, Row, explanations, rows, sentence};

/// The table with what is needed to read it. `known` has the place of a strategy in its catalogue and its kind of mechanism,
/// where there is a catalogue; of each kind the first strategy is shown.
pub fn summary(run: &RunResult, known: impl Fn(&str) -> Option<(usize, &'static str)>) -> String {
    let mut rows = rows(run);
    rows.sort_by_key(|row| known(&row.strategy).map(|(place, _)| place));
    let kind = |row: &Row| known(&row.strategy).map(|(_, kind)| kind);
    let mut shown: Vec<&Row> = Vec::new();
    for row in &rows {
        if kind(row).is_none() || shown.iter().all(|other| kind(other) != kind(row)) {
            shown.push(row);
        }
    }
    let cells = shown.iter().map(|row| {
        let happened = escaped(&row.happened);
        let happened = match row.outcome {
            Outcome::Holds | Outcome::Skipped => happened,
            Outcome::Fails => format!("**{happened}**"),
            Outcome::NoTest => format!("{happened} ??"),
            Outcome::NotAsClaimed => format!("**{happened}** !!"),
        };
        let [sales, ms] = row.cost.clone();
        let kind = kind(row).unwrap_or_default();
        vec![code(&row.strategy), happened, sales, ms, kind.to_owned()]
    });
    let heads = ["strategy", "the worst that was seen", "sales/s", "ms", "kind"];
    let table = table(heads.map(str::to_owned).to_vec(), cells.collect());
    let mut text = format!("{table}\n\n{} {}", sentence(run, &rows), explanations(run).join(" "));
    if shown.len() < rows.len() {
        text += " One strategy of each kind is shown; the others are in the `result.md` of the run.";
    }
    with_warning(run, text)
}
