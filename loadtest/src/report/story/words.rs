//! A story in one sentence.

use std::borrow::Cow;

use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm, wrap};

use super::events;
use super::{LONGEST, Say, letter};
use crate::audit::Finding;
use crate::shop::response::ResponseKind;
use crate::text::one_line;
use crate::trace::{IncidentKind, Role, StepValue, Story, StoryEvent, StoryPurchase, StoryStep, StoryWorker};

/// Returns the result of a step, and the number of times where it was taken several times.
pub(super) fn result(step: &StoryStep) -> String {
    let result = one_line(step.said.as_deref().unwrap_or_default(), LONGEST);
    match step.times {
        0 | 1 => result,
        times => format!("{result}, {times} times"),
    }
}

/// Returns the final response to a buyer.
pub(in crate::report) fn fate(purchase: &StoryPurchase) -> &'static str {
    purchase.told.map_or("no buyer sent it", ResponseKind::in_words)
}

/// `the reconciler of app-1`
pub(super) fn of_worker(worker: &StoryWorker) -> String {
    let [name, instance] = [&worker.name, &worker.instance].map(|text| one_line(text, LONGEST));
    format!("the {name} of {instance}")
}

/// Returns a story in one sentence: `A read 1; B read 1; A wrote 0; B wrote 0: 2 sold of 1.` Each purchase asks for `quantity`
/// units; `stock_left` is what the counter says in the end.
pub(in crate::report) fn in_words(story: &Story, quantity: i64, stock_left: Option<i64>, say: Say<'_>) -> String {
    // Reads and writes explain an oversale, as does what a worker did. The locks explain only a stuck sale.
    let is_of_stock = |step: &&StoryStep| {
        let tells_stock = step.value.and_then(StepValue::units).is_some();
        matches!(step.role, Some(Role::Read | Role::Write)) || tells_stock || !step.is_own()
    };
    let only_stock = story.shows != Finding::Stuck && story.steps.iter().any(|step| is_of_stock(&step));
    let signed = |at_us: u64| i64::try_from(at_us).unwrap_or(i64::MAX);
    // The clause of a killed purchase names the kill already.
    let is_named = |event: &&StoryEvent| {
        let mut purchases = story.purchases.iter();
        event.what == IncidentKind::Killed
            && purchases.any(|purchase| purchase.killed && purchase.instance == event.subject)
    };
    let events = story.events.iter().filter(|event| !is_named(event));
    let mut ends: Vec<(i64, String)> = events.map(|event| (event.began_us, events::clause(event))).collect();
    for step in story.steps.iter().filter(|step| !only_stock || is_of_stock(step)) {
        ends.push((signed(step.ended_us.unwrap_or(step.began_us)), clause(step)));
    }
    for (place, _) in story
        .purchases
        .iter()
        .enumerate()
        .filter(|(_, purchase)| purchase.killed)
    {
        let steps = story
            .steps
            .iter()
            .filter(|step| step.purchase == place && step.is_own());
        let last = steps.map(|step| step.ended_us.unwrap_or(step.began_us)).max();
        ends.push((
            signed(last.unwrap_or(0)),
            format!("{} ended there: its instance was killed", letter(place)),
        ));
    }
    ends.sort_by_key(|(at_us, _)| *at_us);
    let clauses: Vec<String> = ends.iter().map(|(_, clause)| say(clause)).collect();
    // Only a mark of this language is followed by a space.
    let mark = |mark: &str| {
        Some(say(mark))
            .filter(|said| said != mark)
            .unwrap_or_else(|| format!("{mark} "))
    };
    let conclusion = say(&conclusion(story, quantity, stock_left));
    clauses.join(&mark(";")) + &mark(":") + &conclusion + &say(".")
}

fn clause(step: &StoryStep) -> String {
    let (purchase, name) = (letter(step.purchase), one_line(&step.step, LONGEST));
    if let Some(worker) = &step.worker {
        let by = of_worker(worker);
        return match step.said {
            Some(_) => format!("{by} took {name} for {purchase}: {}", result(step)),
            None => format!("{by} began {name} for {purchase} and never ended it"),
        };
    }
    let Some(words) = &step.said else {
        return format!("{purchase} began {name} and never ended it");
    };
    // What the words say beyond the value.
    let note = || {
        one_line(
            words.split_once(',').map_or("", |(value, _)| &words[value.len()..]),
            LONGEST,
        )
    };
    match (step.role, step.value) {
        (Some(Role::Read), Some(StepValue::Left(left))) if step.times == 1 => {
            format!("{purchase} read {left}{}", note())
        }
        (Some(Role::Write), Some(StepValue::Wrote(left))) if step.times == 1 => {
            format!("{purchase} wrote {left}{}", note())
        }
        _ => format!("{purchase} {name}: {}", result(step)),
    }
}

/// Returns the end of the sentence: the effect of the steps.
fn conclusion(story: &Story, quantity: i64, stock_left: Option<i64>) -> String {
    let mut purchases = story.purchases.iter();
    if let Some(dead) = purchases.find(|purchase| purchase.units_gone > 0) {
        return gone(dead);
    }
    match story.shows {
        Finding::Oversold | Finding::Drift => oversold(story, quantity),
        Finding::Stuck => match stock_left {
            Some(1) => "1 unit is left, and nobody can buy it".to_owned(),
            Some(left) => format!("{left} units are left, and nobody can buy them"),
            None => "nobody can buy any more".to_owned(),
        },
        Finding::Duplicate => "one idempotency key bought more than once".to_owned(),
        Finding::Lost => "told sold, and no order of it is in the ledger".to_owned(),
        Finding::Ghost => "an order that nobody was told of".to_owned(),
        Finding::Unavailable => "one instance was dead, and the others served nobody".to_owned(),
        Finding::Undersold => "units are left, and buyers were told sold out".to_owned(),
        Finding::FalseRefusal => "told sold out, although a later purchase was sold".to_owned(),
        Finding::Unreadable => "the ledger cannot be read".to_owned(),
    }
}

/// Returns the clause about units that were taken and have no order.
fn gone(dead: &StoryPurchase) -> String {
    let instance = one_line(&dead.instance, LONGEST);
    match dead.units_gone {
        1 => format!("1 unit was taken by {instance}, which died before it recorded an order: the unit is gone"),
        units => {
            format!("{units} units were taken by {instance}, which died before it recorded the orders: they are gone")
        }
    }
}

/// Returns `2 sold of 1`, or the fall of the stock where more units were left.
fn oversold(story: &Story, quantity: i64) -> String {
    let late = story.sold_late().map(|place| story.steps[place].purchase);
    let is_sold =
        |(place, purchase): &(usize, &StoryPurchase)| purchase.told == Some(ResponseKind::Sold) || late == Some(*place);
    let sold = story.purchases.iter().enumerate().filter(is_sold).count() as i64 * quantity;
    if late.is_some() {
        return format!("{sold} sold, and the stock fell by {quantity}");
    }
    let reads = story.steps.iter().filter(|step| step.role == Some(Role::Read));
    let mut reads = reads.map(|step| step.value.filter(|value| matches!(value, StepValue::Left(_))));
    let first = reads.next().flatten();
    let is_same = reads.all(|left| left == first);
    match first.filter(|_| is_same) {
        Some(StepValue::Left(left)) if left < sold => format!("{sold} sold of {left}"),
        Some(_) => format!("{sold} sold, and the stock fell by {quantity}"),
        None => format!("{sold} sold"),
    }
}

/// Wraps text to lines of at most `width` columns of a terminal. Breaks between words, also in languages without spaces.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let separator = if text.is_ascii() {
        WordSeparator::AsciiSpace
    } else {
        WordSeparator::UnicodeBreakProperties
    };
    let options = Options::new(width)
        .word_separator(separator)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    wrap(&text, options).into_iter().map(Cow::into_owned).collect()
}
