//! The table of the rounds of a shop.

use std::fmt::Write;

use ::race::{Load, Round, Window};
use loadtest::audit::Verdict;
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
        let findings: Vec<_> = round
            .findings
            .named()
            .iter()
            .map(|(name, size)| format!("{name} {size}"))
            .collect();
        let verdict = match round.verdict {
            Verdict::Holds => "holds".to_owned(),
            Verdict::Violated => format!("**{}**", findings.join(", ")),
            Verdict::Inconclusive => format!("decides nothing: {}", round.inconclusive.as_deref().unwrap_or_default()),
        };
        let recorded = round.recorded.map_or_else(|| "-".to_owned(), |units| units.to_string());
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
            recorded,
            round.stock_left,
            round.stock,
        );
    }
    text
}
