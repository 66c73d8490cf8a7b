//! A table that reads well as plain text and is Markdown all the same.

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{ContentArrangement, Table};

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
