//! `result.md`: the tables, for people. The same text is printed at the end of a run.

mod language;
mod matrix;
mod overview;
mod page;
mod rows;
mod table;

use std::collections::BTreeSet;

pub use language::Language;
pub use matrix::spread;
pub use overview::{choices, overview};
pub use page::page;

use self::table::escaped;
use super::Report;
use crate::result::RunResult;
use crate::result::cell::{ClaimCheck, claim_check};
use crate::result::soak_totals::sums;

pub(super) struct Markdown;

impl Report for Markdown {
    fn file_name(&self) -> &'static str {
        "result.md"
    }

    fn render(&self, run: &RunResult) -> String {
        let text = format!(
            "{soak}## Every trial\n\n{rows}\n\n{ROWS_LEGEND}\n\n## Who oversells?\n\n{matrix}\n\n{sentence}\n",
            soak = sums(run).map_or_else(String::new, |sums| format!("## Soak\n\n{}\n\n", sums.join(" "))),
            rows = rows::rows(run),
            matrix = matrix::matrix(run),
            sentence = sentence(run),
        );
        with_warning(run, text)
    }
}

fn sentence(run: &RunResult) -> &'static str {
    match claim_check(run) {
        ClaimCheck::AsDesigned => {
            "Every strategy did what it claims under every threat, and failed where it claims nothing."
        }
        ClaimCheck::NotAsDesigned => "At least one strategy did not do what it claims: see the cells marked `!!`.",
        ClaimCheck::Inconclusive if run.ended_early.is_some() => "The run ended early: it decides nothing.",
        ClaimCheck::Inconclusive => "Some rounds were no test: see the cells marked `??`.",
        ClaimCheck::Skipped => "Some trials were skipped: nothing is decided about them.",
    }
}

/// What must not be overlooked stands before everything else: a run that is not whole, and what was skipped.
pub(super) fn with_warning(run: &RunResult, text: String) -> String {
    let early = run
        .ended_early
        .iter()
        .map(|why| format!("**This run ended early, {}.**", escaped(why)));
    let reasons: BTreeSet<_> = run.rounds.iter().filter_map(|round| round.skipped.as_deref()).collect();
    let skipped = reasons
        .iter()
        .map(|why| format!("**Trials were skipped: {}.**", escaped(why)));
    let warnings: Vec<String> = early.chain(skipped).collect();
    if warnings.is_empty() {
        return text;
    }
    format!("{}\n\n{text}", warnings.join("\n\n"))
}

/// How to read the long table.
const ROWS_LEGEND: &str = "\
Units of stock; median of the repeats, [smallest to largest] where they differ. Latency in ms, median / slowest, from \
the intended start to the last byte, for each kind of answer apart. Played once more: rounds that were no test by \
chance, once each. Overlap: pairs of purchases that held the lock of the item at one time, and the longest time that two \
shared; it decides nothing, for the store may have refused one of them. Longest wait: for the lock. Jain: the index of \
fairness over the buyers' waits, 1 where all waited equally long, 1/n where one of n did all the waiting. These three \
are of the repeats that are traced, and `-` without a trace and without a lock. Finished / undone: purchases \
that hung between two stores until the shop's reconciler came, and the longest time that one did; `-` where no instance \
tells of it.";
