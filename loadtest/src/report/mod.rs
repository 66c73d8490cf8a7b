//! The reports of a run, one file each. [`all`] lists them.

pub mod charts;
mod html;
mod json;
mod markdown;
mod story;
pub mod terminal_summary;

use crate::result::RunResult;

/// A report in a run's folder.
pub trait Report: Sync {
    /// Returns the file's name.
    fn file_name(&self) -> &'static str;

    /// Returns the whole file.
    fn render(&self, run: &RunResult) -> String;
}

/// Returns every report.
pub fn all() -> [&'static dyn Report; 3] {
    [&json::Json, &markdown::Markdown, &html::Html]
}

pub use html::compare::compared;
pub use html::live::{Lesson, LessonRun, live, live_result};
pub use html::schedules::{Searched, schedules};
pub use json::json;
pub use markdown::{Language, choices, overview, page, spread};
pub use story::{side_by_side, stories, stories_in};
