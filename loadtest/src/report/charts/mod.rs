//! Charts of a run, as SVG. One file each; [`all`] is the one list.

mod cost;
mod oversold;
mod safe_strategies;
mod svg;

use crate::result::RunResult;

/// A chart of any run. It says so where the run has nothing to draw.
pub trait Chart: Sync {
    /// The file's name.
    fn file_name(&self) -> &'static str;

    /// The whole file.
    fn draw(&self, run: &RunResult) -> String;
}

/// Every chart.
pub fn all() -> [&'static dyn Chart; 2] {
    [&oversold::Oversold, &cost::Cost]
}
