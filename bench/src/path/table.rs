//! The medians as a table for a terminal.

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{CellAlignment, Column, ContentArrangement, Table};

use super::figures::Figures;
use super::measure::Route;
use super::parameters::{Client, Parameters};
use crate::row::Row;

/// The processes with a column of their own. All other services share one.
const SERVERS: [&str; 4] = ["app", "nginx", "redis", "sql"];

const HEADS: [&str; 6] = ["strategy", "route", "client", "sales/s", "of no-op", "us"];

/// The number of columns with text.
const NAMES: usize = 3;

/// Formats the rows: sales, the ratio to the no-op, and processor time per sale.
pub fn table(rows: &[Row<Parameters, Figures>]) -> String {
    let mut table = Table::new();
    table
        .load_style(ASCII_MARKDOWN)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(HEADS.into_iter().chain(SERVERS).chain(["other", "load"]))
        .add_rows(rows.iter().map(cells));
    for column in table.column_iter_mut().skip(NAMES) {
        Column::set_cell_alignment(column, CellAlignment::Right);
    }
    format!("{table}\n\nus: microseconds of processor time per sale, of all processes and of each\n")
}

fn cells(
    Row {
        parameters, medians, ..
    }: &Row<Parameters, Figures>,
) -> Vec<String> {
    let route = match parameters.route {
        Route::Nginx => "nginx",
        Route::Direct => "direct",
    };
    let client = parameters.client.map_or("", |client| match client {
        Client::Pool => "pool",
        Client::Multiplexed => "multiplexed",
    });
    let us = |us: Option<f64>| us.map_or("-".to_owned(), |us| format!("{us:.0}"));
    let cpu = medians.cpu_us_per_sale.as_ref();
    let total = us(cpu.map(|cpu| cpu.values().sum()));
    let each = SERVERS.map(|name| us(cpu.and_then(|cpu| cpu.get(name).copied())));
    let others = cpu.map(|cpu| cpu.iter().filter(|(name, _)| !SERVERS.contains(name)));
    let other = us(others.map(|others| others.fold(0.0, |sum, (_, us)| sum + us)));
    let sales = [
        format!("{:.0}", medians.sales_per_s),
        format!("{:.3}", medians.ratio_to_noop),
        total,
    ];
    let named = [parameters.strategy.clone(), route.to_owned(), client.to_owned()];
    let last = [other, us(medians.generator_us_per_sale)];
    named.into_iter().chain(sales).chain(each).chain(last).collect()
}
