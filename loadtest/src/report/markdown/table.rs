//! Tables in Markdown that are legible as plain text, too.

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{ContentArrangement, Table};

use crate::text::one_line;

/// The longest text, in characters.
const LONGEST: usize = 300;

/// Returns the cells under their heads.
pub(super) fn table(heads: Vec<String>, rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table
        .load_style(ASCII_MARKDOWN)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(heads)
        .add_rows(rows);
    table.to_string()
}

/// Escapes text from elsewhere: it can neither end its cell nor begin other Markdown.
pub(super) fn escaped(text: &str) -> String {
    let mut shown = String::new();
    for c in one_line(text, LONGEST).chars() {
        if matches!(c, '|' | '`' | '<' | '>' | '*' | '_' | '[' | ']' | '\\' | '!' | '#') {
            shown.push('\\');
        }
        shown.push(c);
    }
    shown
}

/// Puts text between backquotes. Only a backquote and the end of the cell have a meaning there.
pub(super) fn code(text: &str) -> String {
    let text = one_line(text, LONGEST).replace('`', "'").replace('|', "\\|");
    format!("`{text}`")
}
