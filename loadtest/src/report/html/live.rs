//! The live page: a form that starts a run of two strategies, and the state of that run.

use std::collections::BTreeMap;

use maud::html;
use serde::Serialize;
use serde_json::Value;

use super::data::{Round, answers};
use super::{ROUNDS, document_that};
use crate::audit::Verdict;
use crate::result::{RoundResult, RunResult};
use crate::threats;

const SCRIPT: &str = include_str!("live.js");

/// The page asks only the server that it came from.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'";

/// A lab: one click shows what it is about, and chooses its run.
#[derive(Clone, Debug, Serialize)]
pub struct Lesson {
    /// The number of the lab.
    pub number: usize,
    /// What it is about, in a few words.
    pub title: &'static str,
    /// The situation, as text without marks for links.
    pub situation: String,
    /// The commands that play it in a terminal, one in each line.
    pub commands: String,
    /// The run of two strategies; `None` where it is played in a terminal only.
    pub run: Option<LessonRun>,
}

/// The run of a lesson.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LessonRun {
    /// The strategies of both sides.
    pub strategies: [&'static str; 2],
    /// The threat.
    pub threat: &'static str,
    /// The number of instances.
    pub instances: u8,
    /// Buyers at once.
    pub buyers: u32,
    /// Items that are sold at once.
    pub items: u32,
    /// Units for sale of each item.
    pub stock: u32,
    /// Whether the second side begins when the first one is over.
    pub in_turn: bool,
}

#[derive(Serialize)]
struct Data<'a> {
    answers: Vec<&'static str>,
    lessons: &'a [Lesson],
}

/// Returns the page. It offers these strategies and lessons, and begins with the first lesson. `steps` are the number and the title of
/// each lab in which a visitor chooses the steps.
pub fn live(strategies: &[&str], lessons: &[Lesson], steps: &[(usize, &str)]) -> String {
    let first = lessons.first().and_then(|lesson| lesson.run);
    let options = |chosen: Option<&str>, all: &[&str]| {
        html! { @for name in all { option selected[Some(*name) == chosen] { (name) } } }
    };
    let of_side = |side: usize| first.and_then(|run| run.strategies.get(side).copied());
    let content = html! {
        header {
            h1 { "A flash sale, twice" }
            nav aria-label="Lessons" {
                @for (place, lesson) in lessons.iter().enumerate() {
                    button type="button" data-lesson=(place) { (lesson.number) ". " (lesson.title) }
                }
            }
            p #situation {}
            details {
                summary { "In a terminal" }
                pre #commands tabindex="0" {}
            }
            form #request {
                label { "Left " select #left { (options(of_side(0), strategies)) } }
                label { "Right " select #right { (options(of_side(1), strategies)) } }
                label { "Threat " select #threat { (options(first.map(|run| run.threat), &threats::names())) } }
                label { "Instances " input #instances type="number" min="1" value="2"; }
                label { "Buyers at once " input #buyers type="number" min="1" value="32"; }
                label { "Items " input #items type="number" min="1" value="1"; }
                label { "Units for sale of each " input #stock type="number" min="1" value="48"; }
                label { input #in_turn type="checkbox"; " One side after the other, to compare their speeds" }
                button #start type="submit" { "Start" }
                button #stop type="button" { "Stop" }
                button #next type="button" { "Next lesson" }
            }
            p #says role="status" aria-live="polite" {}
        }
        main.sides #sides {}
        section #scheduler aria-labelledby="scheduler-title" {
            h2 #scheduler-title { "Be the scheduler" }
            p { "Choose which purchase moves next, until a unit is sold twice or nobody can buy any more." }
            form #steps {
                label { "Lab " select #lab { @for (number, title) in steps { option value=(number) { (number) ". " (title) } } } }
                button #begin type="submit" { "Begin" }
                button #leave type="button" { "End" }
            }
            pre #happened tabindex="0" {}
            p #stores {}
            div #choices role="group" aria-label="What happens next" {}
            pre #over aria-live="polite" {}
        }
    };
    let data = Data {
        answers: answers(),
        lessons,
    };
    document_that(POLICY, "live", &content, &data, &[ROUNDS, SCRIPT])
}

/// Returns the result of a run for the live page: the verdict in a few words, and each round.
pub fn live_result(run: &RunResult) -> Value {
    let rounds: Vec<Round> = run.rounds.iter().map(Round::of).collect();
    let unplayed = run.rounds.iter().filter_map(RoundResult::why_unplayed);
    serde_json::json!({
        "verdict": verdict(run),
        "verdicts": run.rounds.iter().map(|round| round.verdict).collect::<Vec<_>>(),
        "unplayed": unplayed.collect::<Vec<_>>(),
        "rounds": rounds,
    })
}

/// Returns whether the strategy of a run holds and how fast it sold, the largest of each finding where it fails, or why nothing
/// follows.
fn verdict(run: &RunResult) -> String {
    let of = |verdict| run.rounds.iter().filter(move |round| round.verdict == verdict);
    let mut found: BTreeMap<&str, i64> = BTreeMap::new();
    for (finding, size) in of(Verdict::Violated).flat_map(|round| round.findings.found()) {
        let largest = found.entry(finding.name()).or_insert(size);
        *largest = size.max(*largest);
    }
    if !found.is_empty() {
        let found = found
            .into_iter()
            .map(|(name, size)| format!("{} {size}", name.replace('_', " ")));
        return format!("fails: {}", found.collect::<Vec<_>>().join(", "));
    }
    if let Some(round) = of(Verdict::Inconclusive).next() {
        let why = round.inconclusive.as_deref().unwrap_or("it was not played");
        return format!("no test: {why}. Nothing follows from it: change the setting, or start it again");
    }
    match of(Verdict::Holds).next() {
        Some(round) => format!("holds: {} units sold in a second", round.sales_per_s.round()),
        None => "not played".to_owned(),
    }
}
