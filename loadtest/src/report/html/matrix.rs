//! The matrix as a table of the page. Each cell is a button that opens its rounds.

use maud::{Markup, html};

use crate::report::markdown::{happened, plain_title};
use crate::result::cell::{Cell, ClaimCheck, Spread, columns, strategies};
use crate::result::conclusion::{Conclusion, Conclusions};
use crate::text::{MAX_NAME, one_line};

/// Returns the table: a row for each strategy, a column for each threat and number of instances.
pub(super) fn matrix(cells: &[Cell]) -> Markup {
    let (strategies, columns) = (strategies(cells), columns(cells));
    let conclusions = Conclusions::of(cells);
    html! {
        table #matrix {
            thead {
                tr {
                    th scope="col" { button data-sort="name" { "strategy" } }
                    th scope="col" { button data-sort="cost" { "sales/s" } }
                    @for (threat, instances) in &columns {
                        th scope="col" data-threat=(one_line(threat, MAX_NAME)) { (plain_title(threat, *instances)) }
                    }
                }
            }
            tbody {
                @for strategy in &strategies {
                    @let cost = sales_per_s(cells, strategy);
                    tr data-name=(one_line(strategy, MAX_NAME)) data-cost=(cost.unwrap_or(0.0)) {
                        th scope="row" { (one_line(strategy, MAX_NAME)) }
                        td.cost { @if let Some(cost) = cost { (format!("{cost:.0}")) } }
                        @for column in &columns {
                            (cell(cells, strategy, column, &conclusions))
                        }
                    }
                }
            }
        }
    }
}

fn cell(cells: &[Cell], strategy: &str, column: &(&str, usize), conclusions: &Conclusions) -> Markup {
    let is_here = |cell: &Cell| (cell.strategy, cell.threat, cell.instances) == (strategy, column.0, column.1);
    let Some(place) = cells.iter().position(is_here) else {
        return html! { td {} };
    };
    let cell = &cells[place];
    html! {
        td class=(class(cell, conclusions)) { button data-cell=(place) { (happened(cell).replace("**", "")) } }
    }
}

fn class(cell: &Cell, conclusions: &Conclusions) -> &'static str {
    if cell.claim_check() == ClaimCheck::NotAsDesigned {
        return "not-as-claimed";
    }
    match conclusions.of_cell(cell) {
        Conclusion::Holds => "holds",
        Conclusion::Fails(_) => "fails",
        Conclusion::DataLoss => "data-loss",
        Conclusion::NoTest | Conclusion::NotTried => "no-test",
    }
}

fn sales_per_s(cells: &[Cell], strategy: &str) -> Option<f64> {
    let cost = cells.iter().find(|cell| cell.strategy == strategy && cell.is_cost())?;
    Some(Spread::of(cost.rounds.iter().map(|round| round.sales_per_s))?.median)
}
