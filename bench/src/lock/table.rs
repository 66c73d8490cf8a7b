//! The medians as tables for a terminal, one for each situation.

use std::fmt::Display;

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, Column, ContentArrangement, Table};

use super::figures::Figures;
use crate::row::{Row, median};

/// The lock that the others are compared with.
const BASE: &str = "token";

const HEADS: [&str; 9] = [
    "lock",
    "locks/s",
    "x token",
    "handoff p50, RTT",
    "p99, RTT",
    "commands/lock",
    "longest wait, ms",
    "Jain's index",
    "violations",
];

/// The parameters of a row. Displayed, they show all but the lock.
pub trait LockRow: Display {
    /// The name of the lock.
    fn lock(&self) -> &str;
}

/// Formats one table for each situation.
pub fn table<P: LockRow>(rows: &[Row<P, Figures>]) -> String {
    let tables = rows.chunk_by(|a, b| a.parameters.to_string() == b.parameters.to_string());
    let tables = tables.filter_map(|rows| {
        let first = rows.first()?;
        let round_trip = first.medians.measured_rtt_ms;
        Some(format!(
            "{} (round trip {round_trip:.2} ms)\n\n{}\n",
            first.parameters,
            table_of(rows)
        ))
    });
    tables.collect::<Vec<_>>().join("\n")
}

fn table_of<P: LockRow>(rows: &[Row<P, Figures>]) -> Table {
    let base = rows.iter().find(|row| row.parameters.lock() == BASE);
    let mut table = Table::new();
    table
        .load_style(ASCII_MARKDOWN)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(HEADS)
        .add_rows(rows.iter().map(|row| cells(row, base)));
    for column in table.column_iter_mut().skip(1) {
        Column::set_cell_alignment(column, CellAlignment::Right);
    }
    table
}

fn cells<P: LockRow>(row: &Row<P, Figures>, base: Option<&Row<P, Figures>>) -> Vec<String> {
    let figures = &row.medians;
    let some = |figure: Option<f64>, digits| figure.map_or("-".to_owned(), |figure| format!("{figure:.digits$}"));
    vec![
        row.parameters.lock().to_owned(),
        format!("{:.0}", figures.acquisitions_per_s),
        some(base.and_then(|base| ratio(row, base)), 2),
        some(figures.handoff_rtt_p50, 2),
        some(figures.handoff_rtt_p99, 2),
        some(figures.commands_per_acquisition, 2),
        format!("{:.0}", figures.longest_wait_ms),
        format!("{:.3}", figures.jain),
        figures
            .violations
            .map_or("-".to_owned(), |violations| violations.to_string()),
    ]
}

/// The median of the ratios of paired runs, not the ratio of the medians.
fn ratio<P>(row: &Row<P, Figures>, base: &Row<P, Figures>) -> Option<f64> {
    let runs = row.runs.iter().zip(&base.runs);
    median(runs.map(|(run, base)| run.acquisitions_per_s / base.acquisitions_per_s))
}
