//! The charts of a run, as SVG, one file each. [`all`] lists them.

mod cost;
mod oversold;
mod safe_strategies;
mod svg;

use crate::result::RunResult;

/// A chart. It draws any run, and says so where the run has nothing to draw.
pub trait Chart: Sync {
    /// Returns the file's name.
    fn file_name(&self) -> &'static str;

    /// Returns the whole file.
    fn draw(&self, run: &RunResult) -> String;
}

/// Returns every chart.
pub fn all() -> [&'static dyn Chart; 2] {
    [&oversold::Oversold, &cost::Cost]
}
