//! `result.json`: the whole run, for programs and for later commands.

use super::Report;
use crate::result::RunResult;

pub(super) struct Json;

impl Report for Json {
    fn file_name(&self) -> &'static str {
        "result.json"
    }

    fn render(&self, run: &RunResult) -> String {
        let mut text = serde_json::to_string_pretty(run).expect("every key is a string, every value a plain one");
        text.push('\n');
        text
    }
}
