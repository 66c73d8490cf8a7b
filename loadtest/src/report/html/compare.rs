//! The page of two results side by side: every cell whose verdict changed, with its rounds in both.

use maud::html;
use serde::Serialize;

use super::data::{Round, answers};
use super::{ROUNDS, document};
use crate::result::RunResult;
use crate::result::cell::Cell;
use crate::result::compare::{Change, Comparison, changes};

const SCRIPT: &str = include_str!("compare.js");

#[derive(Serialize)]
struct Data {
    answers: Vec<&'static str>,
    changes: Vec<Sides>,
}

/// The rounds of a cell in both results; `None` where it was not there.
#[derive(Serialize)]
struct Sides {
    before: Option<Vec<Round>>,
    after: Option<Vec<Round>>,
}

/// Returns the page that compares `after` with `before`. Their comparison stands at its head as text.
pub fn compared(before: &RunResult, after: &RunResult, comparison: &Comparison) -> String {
    let (old, new) = (Cell::all(before), Cell::all(after));
    let changes = changes(&old, &new);
    let title = match changes.len() {
        0 => "No verdict changed".to_owned(),
        1 => "1 verdict changed".to_owned(),
        many => format!("{many} verdicts changed"),
    };
    let content = html! {
        h1 { (title) }
        pre { (comparison.text) }
        @for (place, change) in changes.iter().enumerate() {
            section id={ "change-" (place) } { h2 { (change.in_words().join(", ")) } }
        }
    };
    let data = Data {
        answers: answers(),
        changes: changes.iter().map(Sides::of).collect(),
    };
    document(&title, &content, &data, &[ROUNDS, SCRIPT])
}

impl Sides {
    fn of(change: &Change<'_, '_>) -> Self {
        let rounds =
            |cell: Option<&Cell<'_>>| cell.map(|cell| cell.rounds.iter().map(|round| Round::of(round)).collect());
        Self {
            before: rounds(change.before),
            after: rounds(change.after),
        }
    }
}
