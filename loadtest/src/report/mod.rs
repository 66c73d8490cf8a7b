//! How a run is shown. One file each; [`all`] is the one list.

pub mod charts;
mod json;
mod markdown;
mod story;
pub mod terminal_summary;

use crate::result::RunResult;

/// A form in which a run is written.
pub trait Report: Sync {
    /// The file's name in the run's folder.
    fn file_name(&self) -> &'static str;

    /// The whole file.
    fn render(&self, run: &RunResult) -> String;
}

/// Every form.
pub fn all() -> [&'static dyn Report; 2] {
    [&json::Json, &markdown::Markdown]
}

pub use markdown::{Language, choices, overview, page, spread};
pub use story::{side_by_side, stories};
