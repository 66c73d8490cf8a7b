//! Pages that need no network. `result.html` is the whole result: its script shows the rounds of a cell, and chooses among the
//! strategies. [`schedules`] is the page of the explorer, [`compare`] shows two results side by side, and [`live`] is the page on
//! which a run is started and watched.

pub(super) mod compare;
mod data;
pub(super) mod live;
mod matrix;
pub(super) mod schedules;
mod timeline;
mod wrong_write;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;

use self::data::Data;
use super::Report;
use super::charts;
use super::markdown::{legend, setting};
use crate::result::RunResult;
use crate::result::cell::Cell;
use crate::result::summary::{explanations, rows, sentence};
use crate::text::one_line;

const STYLE: &str = include_str!("page.css");
const COMMON: &str = include_str!("common.js");
const ROUNDS: &str = include_str!("rounds.js");
const RUN: &str = include_str!("page.js");

/// Nothing may be loaded, from nowhere.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// The longest text of the run that is shown.
const LONGEST: usize = 400;

/// What no result shows.
const LIMITS: [&str; 3] = [
    "All servers, the shop and the buyers share one machine and its clock. Networks between machines fail in more ways.",
    "A round that holds is no proof: the schedule that breaks a strategy may not have come.",
    "Sales per second compare strategies of this run. On another machine they are others.",
];

pub(super) struct Html;

impl Report for Html {
    fn file_name(&self) -> &'static str {
        "result.html"
    }

    fn render(&self, run: &RunResult) -> String {
        let cells = Cell::all(run);
        let summary = sentence(run, &rows(run));
        let content = html! {
            h1 { (summary) }
            @if let Some(why) = &run.ended_early { p.warning { "This run ended early, " (one_line(why, LONGEST)) "." } }
            p { (plain(&setting(run))) }
            ul { @for line in explanations(run) { li { (line) } } }
            section #choose hidden {
                h2 { "Which one shall I use?" }
                form {
                    label { "Stock and orders in " select #stores {
                        option value="redis" { "Redis" }
                        option value="sql" { "MariaDB" }
                        @if cells.iter().any(|cell| cell.strategy.ends_with("@pg")) {
                            option value="pg" { "PostgreSQL" }
                        }
                        @if cells.iter().any(|cell| cell.strategy.ends_with("@cluster")) {
                            option value="cluster" { "Redis Cluster" }
                        }
                        option value="both" { "Redis and MariaDB" }
                    } }
                    fieldset { legend { "It has to survive" } div #fears {} }
                }
                div #chosen aria-live="polite" {}
            }
            section {
                h2 { "Every strategy under every threat" }
                form #filter hidden {
                    label { "Strategies " input #strategies placeholder="token"; }
                    label { "Threats " input #threats placeholder="crash"; }
                    label { input #failing type="checkbox"; " only what fails" }
                }
                div.wide tabindex="0" role="region" aria-label="The matrix" { (matrix::matrix(&cells)) }
                p.legend { (plain(&legend(&cells))) }
            }
            section.charts {
                h2 { "How much, and at what cost" }
                @for chart in charts::all() { figure { (PreEscaped(chart.draw(run))) } }
            }
            section {
                h2 { "What this run does not show" }
                ul { @for line in LIMITS { li { (line) } } }
            }
            section {
                h2 { "Play it again" }
                pre { (one_line(&run.command, LONGEST)) }
            }
            dialog #cell aria-labelledby="cell-title" {
                button.close aria-label="Close" { "×" }
                h2 #cell-title {}
                div #rounds {}
            }
        };
        document(&summary, &content, &Data::of(&cells), &[ROUNDS, RUN])
    }
}

/// Returns a whole page that needs no network. Its scripts read `data`.
fn document(title: &str, content: &Markup, data: &impl Serialize, scripts: &[&str]) -> String {
    document_that(POLICY, title, content, data, scripts)
}

/// Returns a whole page that may do what this policy allows.
fn document_that(policy: &str, title: &str, content: &Markup, data: &impl Serialize, scripts: &[&str]) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(policy);
                title { "Oversell: " (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                (content)
                script #data type="application/json" { (PreEscaped(json(data))) }
                script { (PreEscaped(COMMON)) @for script in scripts { (PreEscaped(script)) } }
            }
        }
    };
    page.into_string() + "\n"
}

/// Returns text without the marks of Markdown.
fn plain(text: &str) -> String {
    text.replace(['`', '\\'], "").replace("**", "")
}

/// Returns JSON that cannot end the element of the page in which it stands.
fn json(data: &impl Serialize) -> String {
    let text = serde_json::to_string(data).expect("numbers and texts are always JSON");
    text.replace('<', "\\u003c")
}
