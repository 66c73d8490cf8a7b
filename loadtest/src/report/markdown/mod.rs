//! `result.md`: the tables, for people. The same text is printed at the end of a run.

mod matrix;
mod rows;
mod table;

pub use matrix::matrix;

use super::Report;
use crate::cell::{Standing, standing};
use crate::result::RunResult;

pub(super) struct Markdown;

impl Report for Markdown {
    fn file_name(&self) -> &'static str {
        "result.md"
    }

    fn render(&self, run: &RunResult) -> String {
        let sentence = match standing(run) {
            Standing::AsDesigned => {
                "Every strategy did what it claims under every threat, and failed where it claims nothing."
            }
            Standing::NotAsDesigned => "At least one strategy did not do what it claims: see the cells marked `!!`.",
            Standing::Inconclusive => "Some rounds were no test: see the cells marked `??`.",
            Standing::Skipped => "Nothing was played.",
        };
        format!(
            "## Every trial\n\n{rows}\n\n{ROWS_LEGEND}\n\n## Who oversells?\n\n{matrix}\n\n{sentence}\n",
            rows = rows::rows(run),
            matrix = matrix(run),
        )
    }
}

/// How to read the long table.
const ROWS_LEGEND: &str = "\
Units of stock; median of the repeats, [smallest to largest] where they differ. Latency in ms, p50 / p99, from the \
intended start to the last byte, for each kind of answer apart; of so few answers p99 is close to the slowest.";
