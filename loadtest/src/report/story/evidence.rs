//! The orders that show a violation, for a round without a story.

use super::words::wrapped;
use super::{LONGEST, Say, WIDTH};
use crate::audit::{Evidence, Finding};
use crate::result::RoundResult;
use crate::text::one_line;

/// Returns the sentences about these orders, in lines.
pub(super) fn lines(round: &RoundResult, say: Say<'_>) -> String {
    let lines = round
        .evidence
        .iter()
        .flat_map(|found| wrapped(&say(&in_words(found)), WIDTH));
    lines.map(|line| format!("{line}\n")).collect()
}

/// `order 6a3b (1 of b-0, key k-0): its key had bought order 51c2 before`
fn in_words(found: &Evidence) -> String {
    let shown = |text: &Option<String>| {
        text.as_deref()
            .map_or("none".to_owned(), |text| one_line(text, LONGEST))
    };
    let [order, buyer, key] = [&found.order, &found.buyer, &found.key].map(shown);
    let what = match (&found.bought_before, found.finding) {
        (Some(before), _) => format!("its key had bought order {} before", one_line(before, LONGEST)),
        (None, Finding::Lost) => "its buyer was told of it, and the ledger has no such order".to_owned(),
        (None, _) => "no buyer was told of it".to_owned(),
    };
    format!("order {order} ({} of {buyer}, key {key}): {what}", found.quantity)
}
