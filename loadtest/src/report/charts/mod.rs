//! Pictures of a run, as SVG. One file each; [`all`] is the one list.

mod cost;
mod oversold;
mod safe_strategies;
mod svg;

use crate::result::RunResult;

/// A picture that can be made of any run; one that shows nothing of what is drawn says so.
pub trait Chart: Sync {
    /// The file's name.
    fn file_name(&self) -> &'static str;

    /// The whole file.
    fn draw(&self, run: &RunResult) -> String;
}

/// Every picture.
pub fn all() -> [&'static dyn Chart; 2] {
    [&oversold::Oversold, &cost::Cost]
}
