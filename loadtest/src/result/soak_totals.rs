//! Sums over all rounds of a soak.

use std::collections::BTreeSet;

use crate::audit::{Finding, Verdict};
use crate::result::{RoundResult, RunResult};
use crate::shop::response::ResponseKind;
use crate::text::counted;

/// Findings that are named even if they are 0.
const NAMED: [Finding; 3] = [Finding::Oversold, Finding::Lost, Finding::Duplicate];

/// Returns the sums in words, one per line; `None` if the run is no soak. Each purchase counts once, by its outcome,
/// with the purchases of the follow-up.
pub fn sums(run: &RunResult) -> Option<[String; 3]> {
    let soak = run.soak?;
    let rounds: Vec<&RoundResult> = run
        .rounds
        .iter()
        .filter(|round| round.why_unplayed().is_none())
        .collect();
    let told = |kind| rounds.iter().map(|round| i128::from(round.units(kind))).sum::<i128>();
    let all: i128 = ResponseKind::ALL.into_iter().map(told).sum();
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

/// Returns the number of responses of each kind. Rejected ones are named only if there are any.
fn responses(rounds: &[&RoundResult], told: impl Fn(ResponseKind) -> i128) -> String {
    let explained: i128 = rounds.iter().map(|round| i128::from(round.facts.explained)).sum();
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

/// Returns the findings of all rounds together: the named ones, and all others that are not 0.
fn found(rounds: &[&RoundResult]) -> String {
    let others = Finding::ALL.into_iter().filter(|finding| !NAMED.contains(finding));
    let sums = NAMED.into_iter().chain(others).map(|finding| {
        let sizes = rounds
            .iter()
            .map(|round| u128::from(round.findings.of(finding).unsigned_abs()));
        let size: u128 = sizes.sum();
        (finding, size)
    });
    let shown = sums.filter(|(finding, size)| *size > 0 || NAMED.contains(finding));
    let shown: Vec<_> = shown
        .map(|(finding, size)| format!("{size} {}", finding.name().replace('_', " ")))
        .collect();
    shown.join(", ")
}
