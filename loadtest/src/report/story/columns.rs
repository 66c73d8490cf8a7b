//! The table of a story: one column for each purchase, one line for each event.

use textwrap::core::display_width;

use super::events;
use super::letter;
use super::words::{fate, of_worker, result, wrapped};
use super::{LONGEST, Say, WIDTH};
use crate::text::one_line;
use crate::trace::{IncidentKind, Story, StoryEvent, StoryPurchase, StoryStep};

/// The width of the column of times.
const TIME: usize = 10;

/// The space between two columns.
const GAP: usize = 2;

/// A line of the table, in the column of one purchase or across all columns.
pub(in crate::report) struct Line {
    /// The time in microseconds.
    pub(in crate::report) at_us: i64,
    pub(in crate::report) purchase: Option<usize>,
    pub(in crate::report) text: String,
    /// The place of the step that ends here.
    pub(in crate::report) ends: Option<usize>,
}

/// Returns the table of a story, with times in ms after its first step.
pub(super) fn columns(story: &Story, say: Say<'_>) -> String {
    let width = (WIDTH - TIME + GAP) / story.purchases.len().max(1) - GAP;
    let heads = story.purchases.iter().enumerate().map(|(place, purchase)| {
        let [buyer, instance] = [&purchase.buyer, &purchase.instance].map(|name| one_line(name, LONGEST));
        wrapped(&say(&format!("{}: {buyer} at {instance}", letter(place))), width)
    });
    let mut table = row("ms", heads.collect(), width);
    table.extend(lines(story).into_iter().flat_map(|line| {
        let time = format!("{:.3}", line.at_us as f64 / 1_000.0);
        // After ten seconds there is no room for the last digit.
        let time = time.get(..TIME - GAP).unwrap_or(&time);
        let Some(purchase) = line.purchase else {
            return row(
                time,
                vec![wrapped(&format!("-- {}", say(&line.text)), WIDTH - TIME)],
                WIDTH - TIME,
            );
        };
        let mut cells = vec![Vec::new(); story.purchases.len()];
        if let Some(cell) = cells.get_mut(purchase) {
            *cell = wrapped(&say(&line.text), width);
        }
        row(time, cells, width)
    }));
    let fates = story
        .purchases
        .iter()
        .map(|purchase| wrapped(&say(fate(purchase)), width));
    table.extend(row("", fates.collect(), width));
    table.join("\n")
}

/// Returns the ends of steps, in order of time. The begin of a step has its own line where another purchase took a step
/// meanwhile, where an event happened, or where the step never ended.
pub(in crate::report) fn lines(story: &Story) -> Vec<Line> {
    let signed = |at_us: u64| i64::try_from(at_us).unwrap_or(i64::MAX);
    // An event comes before a step of the same time, because it is the cause.
    let mut lines: Vec<Line> = events::lines(story)
        .map(|(at_us, text)| Line {
            at_us,
            purchase: None,
            text,
            ends: None,
        })
        .collect();
    let events: Vec<i64> = lines.iter().map(|line| line.at_us).collect();
    for (place, step) in story.steps.iter().enumerate() {
        let name = named(step);
        let last = step.ended_us.unwrap_or(u64::MAX);
        let is_between = |at_us: u64| step.began_us < at_us && at_us < last;
        let is_other = |other: &&StoryStep| (other.purchase, &other.worker) != (step.purchase, &step.worker);
        let others = story.steps.iter().filter(is_other);
        let mut meanwhile = others
            .flat_map(|other| [Some(other.began_us), other.ended_us])
            .flatten();
        let is_event_between = events
            .iter()
            .any(|at_us| signed(step.began_us) < *at_us && *at_us < signed(last));
        if step.ended_us.is_none() || is_event_between || meanwhile.any(is_between) {
            lines.push(Line {
                at_us: signed(step.began_us),
                purchase: Some(step.purchase),
                text: format!("{name} begins"),
                ends: None,
            });
        }
        lines.extend(step.ended_us.map(|at_us| Line {
            at_us: signed(at_us),
            purchase: Some(step.purchase),
            text: format!("{name}: {}", result(step)),
            ends: Some(place),
        }));
    }
    for (place, purchase) in story.purchases.iter().enumerate() {
        lines.extend(notes(story, place, purchase));
    }
    lines.sort_by_key(|line| line.at_us);
    lines
}

/// Returns the lines about a purchase that are no steps: how many were left out, and its death.
fn notes(story: &Story, place: usize, purchase: &StoryPurchase) -> Vec<Line> {
    let signed = |at_us: u64| i64::try_from(at_us).unwrap_or(i64::MAX);
    let mut lines = Vec::new();
    let steps = || {
        story
            .steps
            .iter()
            .filter(|step| step.purchase == place && step.is_own())
    };
    let last_us = steps()
        .map(|step| step.ended_us.unwrap_or(step.began_us))
        .max()
        .unwrap_or(0);
    if purchase.left_out > 0 {
        let at_us = steps()
            .rev()
            .nth(steps().count() / 2)
            .map_or(last_us, |step| step.began_us);
        let text = format!("({} steps left out)", purchase.left_out);
        lines.push(Line {
            at_us: signed(at_us),
            purchase: Some(place),
            text,
            ends: None,
        });
    }
    if purchase.killed {
        // The load test sees a death somewhat later than the last step.
        let is_its_death =
            |event: &&StoryEvent| event.what == IncidentKind::Killed && event.subject == purchase.instance;
        let died = story.events.iter().find(is_its_death).map(|event| event.began_us);
        let text = "ends here: its instance was killed".to_owned();
        lines.push(Line {
            at_us: signed(last_us).max(died.unwrap_or(0)),
            purchase: Some(place),
            text,
            ends: None,
        });
    }
    lines
}

/// Returns the name of a step, and of the worker that took it for the purchase.
fn named(step: &StoryStep) -> String {
    let name = one_line(&step.step, LONGEST);
    match &step.worker {
        Some(worker) => format!("{}: {name}", of_worker(worker)),
        None => name,
    }
}

/// Returns a row with as many lines as its highest cell.
fn row(time: &str, cells: Vec<Vec<String>>, width: usize) -> Vec<String> {
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let line = |number: usize| {
        let time = if number == 0 { time } else { "" };
        let cells = cells.iter().map(|cell| cell.get(number).map_or("", String::as_str));
        // A Chinese character is as wide as two others.
        let padding = |text: &str| " ".repeat(width.saturating_sub(display_width(text)));
        let cells: Vec<String> = cells.map(|text| text.to_owned() + &padding(text)).collect();
        let line = format!("{time:>width$}{}", " ".repeat(GAP), width = TIME - GAP) + &cells.join(&" ".repeat(GAP));
        line.trim_end().to_owned()
    };
    (0..height).map(line).collect()
}
