//! The stories of violated rounds, for a terminal: the steps side by side, and then in a sentence.

mod columns;
mod events;
mod evidence;
mod words;

use self::columns::columns;
use self::words::wrapped;
use crate::audit::Verdict;
use crate::result::cell::Cell;
use crate::result::{RoundResult, RunResult};
use crate::text::one_line;
use crate::trace::Story;

pub(super) use self::columns::lines;
pub(super) use self::words::{fate, in_words};

/// The width of a terminal, in characters.
const WIDTH: usize = 80;

/// The longest name of a strategy, a threat or a buyer that is shown.
const LONGEST: usize = 64;

/// Says a sentence of a story in the reader's language.
type Say<'a> = &'a dyn Fn(&str) -> String;

/// Returns the first story of each trial with a violated round.
pub fn stories(run: &RunResult) -> String {
    stories_in(run, &str::to_owned)
}

/// Returns the same in another language. `say` gets each English sentence, with the texts in it.
pub fn stories_in(run: &RunResult, say: &dyn Fn(&str) -> String) -> String {
    let stories: Vec<String> = Cell::all(run).iter().filter_map(|cell| story(cell, say)).collect();
    if stories.is_empty() {
        return say("No round was violated: there is nothing to tell.") + "\n";
    }
    stories.join("\n")
}

/// Returns the steps of a story, one column for each purchase.
pub fn side_by_side(story: &Story) -> String {
    columns(story, &str::to_owned)
}

fn story(cell: &Cell, say: Say<'_>) -> Option<String> {
    let violated = || cell.rounds.iter().filter(|round| round.verdict == Verdict::Violated);
    let first = violated().next()?;
    let traced = violated().find_map(|round| Some((round, round.story.as_ref()?)));
    Some(match traced {
        Some((round, story)) => format!(
            "{}\n\n{}\n\n{}\n",
            head(round, say),
            columns(story, say),
            wrapped(&round_in_words(story, round, say), WIDTH).join("\n")
        ),
        // Not every repeat is traced, and an instance may have no room for its trace.
        None => format!(
            "{}\n\n{}\n{}",
            head(first, say),
            say("No trace shows it."),
            evidence::lines(first, say)
        ),
    })
}

/// Returns the story of this round in one sentence.
pub(super) fn of_round(story: &Story, round: &RoundResult) -> String {
    round_in_words(story, round, &str::to_owned)
}

fn round_in_words(story: &Story, round: &RoundResult, say: Say<'_>) -> String {
    in_words(story, i64::from(round.quantity), round.facts.stock_left, say)
}

/// `## none@redis, crowd, 1 instance, repeat 2: oversold 12`
fn head(round: &RoundResult, say: Say<'_>) -> String {
    let instances = match round.instances {
        1 => "1 instance".to_owned(),
        many => format!("{many} instances"),
    };
    let found = round.findings.found();
    let found: Vec<_> = found
        .map(|(finding, size)| format!("{} {size}", finding.name().replace('_', " ")))
        .collect();
    let [strategy, threat] = [&round.strategy, &round.threat].map(|name| one_line(name, LONGEST));
    let phase = round.phase.map_or_else(String::new, |phase| format!(" {phase}"));
    let head = format!(
        "## {strategy}, {threat}{phase}, {instances}, repeat {}: {}",
        round.repeat,
        found.join(", ")
    );
    wrapped(&say(&head), WIDTH).join("\n")
}

/// Returns the name of the purchase at `place`: A, B, C.
pub(super) fn letter(place: usize) -> char {
    char::from(b'A' + (place % 26) as u8)
}
