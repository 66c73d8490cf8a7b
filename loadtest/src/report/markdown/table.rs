//! A table that reads well as plain text and is Markdown all the same.

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{ContentArrangement, Table};

use crate::text::one_line;

/// The longest text that is shown in one piece.
const LONGEST: usize = 300;

/// Lays out cells under heads.
pub(super) fn table(heads: Vec<String>, rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table
        .load_style(ASCII_MARKDOWN)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(heads)
        .add_rows(rows);
    table.to_string()
}

/// Text that was written elsewhere, made so that it can neither end its cell nor begin anything else.
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

/// The same between backquotes, where nothing but a backquote and the end of the cell means anything.
pub(super) fn code(text: &str) -> String {
    let text = one_line(text, LONGEST).replace('`', "'").replace('|', "\\|");
    format!("`{text}`")
}
