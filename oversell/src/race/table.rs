//! The table of the rounds of a shop.

use std::fmt::Write;

use ::race::{ItemRound, Load, Round, Window};
use loadtest::audit::{Findings, Verdict};
use loadtest::shop::response::ResponseKind;
use loadtest::text::printable;

use super::Kept;

/// Returns the load in words, as the table has it.
pub(super) fn in_words(load: Load) -> &'static str {
    match load {
        Load::OneByOne => "one at a time",
        Load::InTurn(_) => "ready together, one at a time",
        Load::Race {
            clicks: 1,
            has_fault: false,
            ..
        } => "race",
        Load::Race { clicks: 1, .. } => "race with the fault",
        Load::Race { has_fault: false, .. } => "several clicks",
        Load::Race { .. } => "several clicks with the fault",
    }
}

/// Returns the table of the rounds, and what it means.
pub(super) fn summary(kept: &Kept<'_>) -> String {
    let mut text = table(kept.rounds);
    let races = || {
        kept.rounds
            .iter()
            .filter(|round| matches!(round.load, Load::Race { .. }))
    };
    let count = |verdict| races().filter(|round| round.verdict == verdict).count();
    let _ = write!(
        text,
        "\n{}: {} of {} races violated, {} hold, {} decide nothing.\n",
        kept.shop,
        count(Verdict::Violated),
        races().count(),
        count(Verdict::Holds),
        count(Verdict::Inconclusive)
    );
    let in_turn = kept.rounds.iter().find(|round| matches!(round.load, Load::InTurn(_)));
    if in_turn.is_some_and(|round| round.verdict == Verdict::Violated) {
        text.push_str("Buyers who are ready together break it one after the other: nothing asks for the stock in the raced request.\n");
    }
    text.push_str(&fault_in_words(kept.rounds));
    if let Some(not_judged) = kept.not_judged {
        let _ = writeln!(text, "Not judged: {not_judged}.");
    }
    if let Some(unclear) = kept.rounds.iter().find_map(|round| round.unclear.as_ref()) {
        let _ = writeln!(text, "An answer that [answers] does not know: {}", printable(unclear));
    }
    text
}

/// Returns what the fault did, if there was one.
fn fault_in_words(rounds: &[Round]) -> String {
    let faults: Vec<_> = rounds.iter().filter_map(|round| round.fault.as_ref()).collect();
    let Some(first) = faults.first() else {
        return String::new();
    };
    let struck = faults.iter().filter(|fault| fault.missed.is_none()).count();
    let mut text = format!(
        "The fault: {}, {} ms after the release. It struck in {struck} of {} races",
        printable(&first.what),
        first.began_ms,
        faults.len()
    );
    let affected: Vec<_> = faults.iter().filter_map(|fault| fault.affected).collect();
    if let (Some(fewest), Some(most)) = (affected.iter().min(), affected.iter().max()) {
        let _ = write!(text, ", and affected {fewest} to {most} pieces of bytes or connections");
    }
    text.push_str(".\n");
    let breaks_alone = rounds.iter().any(|round| {
        let is_without = matches!(round.load, Load::Race { has_fault: false, .. });
        is_without && round.verdict == Verdict::Violated
    });
    if breaks_alone {
        text.push_str("The race without the fault breaks it as well: look at that first.\n");
    }
    text
}

fn table(rounds: &[Round]) -> String {
    let mut text =
        "| round | buyers | sold | sold out | busy | unclear | orders | left of stock | window in µs | verdict |\n\
                    |---|---|---|---|---|---|---|---|---|---|\n"
            .to_owned();
    for round in rounds {
        let told = |kind| round.told.get(&kind).copied().unwrap_or_default();
        let verdict = match round.verdict {
            Verdict::Holds => "holds".to_owned(),
            Verdict::Violated => format!("**{}**", found(round)),
            Verdict::Inconclusive => format!("decides nothing: {}", round.inconclusive.as_deref().unwrap_or_default()),
        };
        let window = match round.window {
            None => "-".to_owned(),
            Some(Window { is_http2: true, .. }) => "one piece".to_owned(),
            Some(window) => window.us.to_string(),
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {} of {} | {window} | {verdict} |",
            in_words(round.load),
            round.told.values().sum::<usize>(),
            told(ResponseKind::Sold),
            told(ResponseKind::SoldOut),
            told(ResponseKind::Busy),
            told(ResponseKind::Unknown),
            of_each(round, round.recorded, |item| item.recorded),
            of_each(round, Some(round.stock_left), |item| Some(item.stock_left)),
            round.stock,
        );
    }
    text
}

/// Returns a number of each item, where there are several, or else that of the round.
fn of_each(round: &Round, of_round: Option<i64>, of: impl Fn(&ItemRound) -> Option<i64>) -> String {
    let mut numbers: Vec<_> = round.items.iter().map(of).collect();
    if numbers.is_empty() {
        numbers.push(of_round);
    }
    let shown = numbers
        .into_iter()
        .map(|units| units.map_or_else(|| "-".to_owned(), |units| units.to_string()));
    shown.collect::<Vec<_>>().join(", ")
}

/// Returns the findings, with the items that they are of, where there are several.
fn found(round: &Round) -> String {
    let sizes = |findings: &Findings| {
        let named = findings.named();
        let sizes = named.iter().map(|(name, size)| format!("{name} {size}"));
        sizes.collect::<Vec<_>>().join(", ")
    };
    if round.items.is_empty() {
        return sizes(&round.findings);
    }
    let items = round.items.iter().filter(|item| item.findings.found().next().is_some());
    let items = items.map(|item| format!("{}: {}", printable(&item.name), sizes(&item.findings)));
    items.collect::<Vec<_>>().join("; ")
}
