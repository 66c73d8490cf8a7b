//! The verdict: a pure function of the expectation, the responses and every observation of the stores.
//!
//! Negative stock is not the criterion: a lost update oversells with the counter at zero. Everything is counted in
//! units of stock, and every order is matched with what was sent, one to one.

mod absence;
mod competition;
mod evidence;
mod finding;
mod inconclusive;
mod matching;
mod sale_set;

use std::collections::BTreeSet;
use std::time::Instant;

use serde::{Deserialize, Serialize};

pub use absence::Absence;
pub use evidence::{Evidence, MOST_EVIDENCE};
pub use finding::{Finding, Findings, Overlap};
pub use sale_set::judge_sale_set;

pub(crate) use self::competition::enough_sales;
use self::inconclusive::InconclusiveReason;
use self::matching::{Matching, Promise};
use crate::facts::{Facts, Observation};
use crate::responses::Responses;
use crate::shop::response::ResponseKind;

/// The number of buyers in a row, one at a time, that are rejected or get no response before a sale counts as stuck.
/// After fewer failures, or with a sale between them, only some buyers fail.
pub(crate) const FAILURES: usize = 3;

/// The part of the plan that the verdict needs.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// Units the sale was opened with.
    pub stock: i64,
    /// Units of each purchase.
    pub quantity: i64,
    /// Whether purchases had to overlap.
    pub contended: bool,
    /// The number of instances that had to take part.
    pub instances: usize,
    /// The fault of the round, if there was one. Only then may a response be missing, unless its buyer hung up.
    pub fault: Option<FaultSeen>,
    /// The instances that could not answer for a while because of the fault.
    pub absent: Vec<Absence>,
    /// Whether stock and order change together, so that every reading has to show both: one store keeps them, and the
    /// strategy names no step between the two, at which a crash could be tried.
    pub is_atomic: bool,
    /// When the readings began that failed while buyers were at work, or at the end of the run.
    pub failed_looks: Vec<Instant>,
}

/// Whether the fault of a round struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultSeen {
    /// It struck, and by `healed` everything was back.
    Struck {
        /// The time at which everything was back.
        healed: Instant,
        /// The missing responses that it explains, of purchases that were sent before.
        explains: ExplainedUnknowns,
        /// Why the round proves nothing all the same: the fault came at another moment than the one that is tried.
        mistimed: Option<&'static str>,
    },
    /// It did not strike: the round proves nothing.
    Missed,
    /// Its injection says that it struck, and left no proof: the round proves nothing.
    Unproven,
}

/// Which deliveries without a response a fault explains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExplainedUnknowns {
    /// None.
    Nothing,
    /// Deliveries that no instance answered: their instance had died.
    FromDeadInstance,
    /// Also deliveries of which an instance says that it does not know the outcome: its store did not answer.
    All,
}

/// The verdict on a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No finding, in a round that could have had one.
    Holds,
    /// At least one finding.
    Violated,
    /// No finding, but the round was no test.
    Inconclusive,
}

/// The verdict with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The findings.
    pub findings: Findings,
    /// The lost, ghost and duplicate orders, at most [`MOST_EVIDENCE`] of them.
    pub evidence: Vec<Evidence>,
    /// The reason why the round proves nothing, if it does not.
    pub inconclusive: Option<String>,
    /// Whether chance alone is to blame, so that the round may be played once more.
    pub is_chance: bool,
    /// Whether the only reason is that too few buyers came to this item.
    pub lacks_competition: bool,
    /// Units in the ledger, in the last observation.
    pub recorded: i64,
    /// Units recorded for purchases without a response: explained, and not counted as ghosts.
    pub explained: i64,
    /// The counter, in the last observation.
    pub stock_left: Option<i64>,
}

/// Judges one round by all observations, in the order in which they were made.
pub fn judge(expected: &Expectation, responses: &Responses, observations: &[Observation]) -> Judgement {
    let mut findings = Findings::default();
    let promises = Promise::all(responses);
    let mut lost = BTreeSet::new();
    let mut evidence = BTreeSet::new();
    let mut explained = 0;
    for observation in observations {
        findings.add(Finding::Unreadable, unreadable(&observation.facts));
        if observation.facts.cut_short {
            // The ledger has more orders than purchases were ever sent. The exact number does not matter.
            findings.add(Finding::Ghost, observation.facts.orders.len().max(1) as i64);
            continue;
        }
        let matching = Matching::new(&promises, responses, &observation.facts, observation.begun);
        lost.extend(matching.lost);
        let counts = |found: &Evidence| observation.at_rest || found.finding == Finding::Lost;
        evidence.extend(matching.evidence.into_iter().filter(counts));
        if observation.at_rest {
            findings.add(Finding::Ghost, clamped(matching.ghost));
            findings.add(Finding::Duplicate, clamped(matching.duplicate));
            explained = clamped(matching.explained);
            check_at_rest(&mut findings, expected, &promises, responses, &observation.facts);
        } else if expected.is_atomic && !observation.facts.in_parts {
            findings.add(Finding::Drift, drift(expected, &observation.facts));
        }
    }
    for absence in &expected.absent {
        absence.check_survivors(&mut findings, expected, responses);
    }
    let lost = lost.into_iter().map(|place| i128::from(promises[place].quantity()));
    findings.add(Finding::Lost, clamped(lost.sum()));
    findings.add(Finding::FalseRefusal, false_refusals(responses) * expected.quantity);
    let last = observations.iter().rfind(|observation| observation.at_rest);
    let reasons = last.map_or_else(Vec::new, |last| inconclusive::reasons(expected, responses, last));
    let reason = match last {
        Some(_) => reasons.first().map(|reason| reason.why.clone()),
        None => Some("the stores were never read after the sale was over".to_owned()),
    };
    let verdict = match (findings.found().next(), &reason) {
        (Some(_), _) => Verdict::Violated,
        (None, Some(_)) => Verdict::Inconclusive,
        (None, None) => Verdict::Holds,
    };
    let is_inconclusive = verdict == Verdict::Inconclusive;
    Judgement {
        verdict,
        findings,
        evidence: evidence.into_iter().take(MOST_EVIDENCE).collect(),
        is_chance: is_inconclusive && !reasons.is_empty() && reasons.iter().all(InconclusiveReason::is_chance),
        lacks_competition: is_inconclusive
            && !reasons.is_empty()
            && reasons.iter().all(InconclusiveReason::is_lack_of_competition),
        inconclusive: reason.filter(|_| is_inconclusive),
        recorded: last.map_or(0, |observation| clamped(recorded(&observation.facts))),
        explained,
        stock_left: last.and_then(|observation| observation.facts.stock_left),
    }
}

/// Checks the numbers that have to agree once the sale is over.
fn check_at_rest(
    findings: &mut Findings,
    expected: &Expectation,
    promises: &[Promise<'_>],
    responses: &Responses,
    facts: &Facts,
) {
    let promised: i128 = promises.iter().map(|promise| i128::from(promise.quantity())).sum();
    let recorded = recorded(facts);
    let stock = i128::from(expected.stock);
    findings.add(Finding::Oversold, clamped((promised.max(recorded) - stock).max(0)));
    let Some(left) = facts.stock_left else { return };
    findings.add(Finding::Drift, drift(expected, facts));
    let could_be_sold = left.max(0) / expected.quantity * expected.quantity;
    let refused = responses.count(ResponseKind::SoldOut) as i64 * expected.quantity;
    findings.add(Finding::Undersold, could_be_sold.min(refused));
    // A shop that never sold anything is dead and not stuck. That proves nothing, not even that a strategy fails.
    let is_stuck = promised > 0 && could_be_sold > 0 && nobody_can_buy(responses);
    findings.add(Finding::Stuck, i64::from(is_stuck));
}

/// Returns the drop of the counter minus the recorded units; 0 without a counter.
fn drift(expected: &Expectation, facts: &Facts) -> i64 {
    let drop = |left| i128::from(expected.stock) - i128::from(left);
    facts.stock_left.map_or(0, |left| clamped(drop(left) - recorded(facts)))
}

/// Returns whether the buyers of the follow-up could not buy any more. A buyer that is told busy retries for as long as
/// units may be on reserve.
fn nobody_can_buy(responses: &Responses) -> bool {
    let kinds = responses.follow_up.iter().rev().map(|response| response.kind);
    let after_last_sale = kinds.take_while(|kind| !matches!(kind, ResponseKind::Sold | ResponseKind::SoldOut));
    let failures = after_last_sale.filter(|kind| *kind != ResponseKind::Busy).count();
    failures >= FAILURES
        || responses
            .follow_up
            .last()
            .is_some_and(|response| response.kind == ResponseKind::Busy)
}

/// Counts the purchases that were told sold out before a later purchase was sent that was sold.
fn false_refusals(responses: &Responses) -> i64 {
    let purchases = responses.purchases();
    let sold = purchases.iter().filter(|purchase| purchase.kind == ResponseKind::Sold);
    let Some(latest) = sold.map(|purchase| purchase.sent).max() else {
        return 0;
    };
    let refused = purchases
        .iter()
        .filter(|purchase| purchase.kind == ResponseKind::SoldOut);
    let before = |refused| refused + responses.apart < latest;
    let too_early = refused.filter(|purchase| purchase.refused.is_some_and(before));
    too_early.count() as i64
}

fn unreadable(facts: &Facts) -> i64 {
    facts.unreadable as i64 + i64::from(facts.stock_left.is_none() && !facts.cut_short)
}

/// Returns the recorded units. A shop may have written numbers whose sum does not fit into 64 bits.
fn recorded(facts: &Facts) -> i128 {
    facts.orders.iter().map(|order| i128::from(order.quantity)).sum()
}

fn clamped(units: i128) -> i64 {
    i64::try_from(units).unwrap_or(if units < 0 { i64::MIN } else { i64::MAX })
}
