//! `result.json`: the whole run, for programs and for later commands.

use std::fmt::Write;

use serde::Serialize;

use super::Report;
use crate::result::RunResult;

pub(super) struct Json;

impl Report for Json {
    fn file_name(&self) -> &'static str {
        "result.json"
    }

    fn render(&self, run: &RunResult) -> String {
        json(run)
    }
}

/// Returns a value as JSON in ASCII, in lines. JSON allows every other character within a string as it is, and a terminal
/// takes some of them for commands.
///
/// # Panics
/// When a key of a map is no string.
pub fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(value).expect("every key is a string, every value a plain one");
    let mut ascii = String::with_capacity(text.len() + 1);
    for c in text.chars() {
        if c.is_ascii_graphic() || c == ' ' || c == '\n' {
            ascii.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(ascii, "\\u{unit:04x}").expect("a string takes everything");
            }
        }
    }
    ascii.push('\n');
    ascii
}
