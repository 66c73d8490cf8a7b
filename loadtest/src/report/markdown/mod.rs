//! `result.md`: the verdict and the summary first, then the matrix, then every trial. A pipe gets the same text.

mod language;
mod matrix;
mod overview;
mod page;
mod rows;
mod table;

use std::collections::BTreeSet;

pub use language::Language;
pub use matrix::spread;
pub(super) use matrix::{happened, legend, plain_title, setting};
pub use overview::{choices, overview};
pub use page::page;

use self::table::escaped;
use super::Report;
use crate::report::terminal_summary::{NARROWEST, screen};
use crate::result::{RoundResult, RunResult};

pub(super) struct Markdown;

impl Report for Markdown {
    fn file_name(&self) -> &'static str {
        "result.md"
    }

    fn render(&self, run: &RunResult) -> String {
        let summary = screen(run, false, NARROWEST);
        let (verdict, rest) = summary.split_once("\n\n").unwrap_or((&summary, ""));
        format!(
            "**{verdict}**\n\n```text\n{rest}```\n\n## Who oversells?\n\n{matrix}\n\n## Every trial\n\n{rows}\n\n{ROWS_LEGEND}\n",
            matrix = matrix::matrix(run),
            rows = rows::rows(run),
        )
    }
}

/// Puts warnings before the text: an early end of the run, and trials that were not played.
pub(super) fn with_warning(run: &RunResult, text: String) -> String {
    let early = run
        .ended_early
        .iter()
        .map(|why| format!("**This run ended early, {}.**", escaped(why)));
    let skipped = reasons(run, |round| round.skipped.as_deref());
    let skipped = skipped.map(|why| format!("**Trials were skipped: {why}.**"));
    let not_playable = reasons(run, |round| round.not_playable.as_deref());
    let not_playable = not_playable.map(|why| format!("**Trials are not playable here: {why}.**"));
    let warnings: Vec<String> = early.chain(skipped).chain(not_playable).collect();
    if warnings.is_empty() {
        return text;
    }
    format!("{}\n\n{text}", warnings.join("\n\n"))
}

/// Returns each reason once, as Markdown.
fn reasons<'a>(run: &'a RunResult, of: fn(&RoundResult) -> Option<&str>) -> impl Iterator<Item = String> + 'a {
    let reasons: BTreeSet<_> = run.rounds.iter().filter_map(of).collect();
    reasons.into_iter().map(escaped)
}

/// The legend of the long table.
const ROWS_LEGEND: &str = "\
Units of stock; median of the repeats, [smallest to largest] where they differ. Latency in ms, median / slowest, \
from the intended start to the last byte, for each kind of answer apart. Played once more: rounds that decided \
nothing by chance, once each. Overlap: pairs of purchases that held the lock of the item at one time, and the \
longest time that two shared; the verdict does not depend on it, since the store may have refused one of them. \
Longest wait: for the lock. Jain: the index of fairness over the buyers' waits: 1 if all waited equally long, 1/n if \
one of n did all the waiting. These three come from the traced repeats; `-` without a trace or without a lock. \
Finished / undone: purchases that were half done in two stores until the shop's reconciler came, and the longest \
such time; `-` where no instance reports it.";
