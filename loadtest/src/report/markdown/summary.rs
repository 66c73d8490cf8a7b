//! The shortest table: one row per strategy, and what became of it.

use super::table::{code, escaped, table};
use super::with_warning;
use crate::result::RunResult;
use crate::summary::{Outcome, explanations, rows, sentence};

/// The table with what is needed to read it. `family` names the kind of mechanism of a strategy, where it is known.
pub fn summary(run: &RunResult, family: impl Fn(&str) -> Option<&'static str>) -> String {
    let rows = rows(run);
    let cells = rows.iter().map(|row| {
        let happened = escaped(&row.happened);
        let happened = match row.outcome {
            Outcome::Holds | Outcome::Skipped => happened,
            Outcome::Fails => format!("**{happened}**"),
            Outcome::NoTest => format!("{happened} ??"),
            Outcome::NotAsClaimed => format!("**{happened}** !!"),
        };
        let [sales, ms] = row.cost.clone();
        let family = family(&row.strategy).unwrap_or_default();
        vec![code(&row.strategy), happened, sales, ms, family.to_owned()]
    });
    let heads = ["strategy", "the worst that was seen", "sales/s", "ms", "kind"];
    let table = table(heads.map(str::to_owned).to_vec(), cells.collect());
    let text = format!("{table}\n\n{} {}", sentence(run, &rows), explanations(run).join(" "));
    with_warning(run, text)
}
