//! What all rounds of a soak come to.

use std::collections::BTreeSet;

use crate::audit::{Finding, Verdict};
use crate::result::{RoundResult, RunResult};
use crate::shop::response::ResponseKind;
use crate::text::counted;

/// Findings that are named even where there are none.
const NAMED: [Finding; 3] = [Finding::Oversold, Finding::Lost, Finding::Duplicate];

/// The sums in words, a line each; `None` where the run is no soak. Purchases are counted once each, by what came of them in
/// the end, with those of the buyers who came after the attack.
pub fn sums(run: &RunResult) -> Option<[String; 3]> {
    let soak = run.soak?;
    let rounds: Vec<&RoundResult> = run.rounds.iter().filter(|round| round.skipped.is_none()).collect();
    let told = |kind| rounds.iter().map(|round| round.units(kind)).sum::<i64>();
    let all: i64 = ResponseKind::ALL.into_iter().map(told).sum();
    let strategies: BTreeSet<_> = rounds.iter().map(|round| &round.strategy).collect();
    let threats: BTreeSet<_> = rounds.iter().map(|round| &round.threat).collect();
    let holding = rounds.iter().filter(|round| round.verdict == Verdict::Holds).count();
    Some([
        format!(
            "Soak, seed {}: {all} purchases, {}, {}, {}.",
            soak.seed,
            counted(rounds.len(), ["round", "rounds"]),
            counted(strategies.len(), ["strategy", "strategies"]),
            counted(threats.len(), ["threat", "threats"])
        ),
        format!("{}.", responses(&rounds, told)),
        format!("{}; {holding} of {} rounds hold.", found(&rounds), rounds.len()),
    ])
}

/// What buyers were told; that somebody was rejected is said where it happened.
fn responses(rounds: &[&RoundResult], told: impl Fn(ResponseKind) -> i64) -> String {
    let explained: i64 = rounds.iter().map(|round| round.facts.explained).sum();
    let said = |kind| {
        let number = told(kind);
        match kind {
            ResponseKind::Sold => Some(format!("{number} sold")),
            ResponseKind::SoldOut => Some(format!("{number} sold out")),
            ResponseKind::Busy => Some(format!("{number} busy")),
            ResponseKind::Rejected => (number > 0).then(|| format!("{number} rejected")),
            ResponseKind::Unknown => Some(format!("{number} unknown ({explained} of them recorded)")),
        }
    };
    ResponseKind::ALL
        .into_iter()
        .filter_map(said)
        .collect::<Vec<_>>()
        .join(", ")
}

/// What was found in all rounds together: what has to be named, and whatever else there is.
fn found(rounds: &[&RoundResult]) -> String {
    let others = Finding::ALL.into_iter().filter(|finding| !NAMED.contains(finding));
    let sums = NAMED.into_iter().chain(others).map(|finding| {
        let size: i64 = rounds.iter().map(|round| round.findings.of(finding).abs()).sum();
        (finding, size)
    });
    let shown = sums.filter(|(finding, size)| *size > 0 || NAMED.contains(finding));
    let shown: Vec<_> = shown
        .map(|(finding, size)| format!("{size} {}", finding.name().replace('_', " ")))
        .collect();
    shown.join(", ")
}
