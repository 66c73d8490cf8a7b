//! The verdict: a pure function of what was expected, what buyers were told and what the stores said at each look.
//!
//! Negative stock is never looked for: a lost update oversells with the counter at zero. Everything is counted in units
//! of stock, and every order is matched with what was sent, one to one.

mod evidence;
mod finding;
mod inconclusive;
mod matching;
mod sale_set;

use std::collections::BTreeSet;
use std::time::Instant;

use serde::{Deserialize, Serialize};

pub use evidence::{Evidence, MOST_EVIDENCE};
pub use finding::{Finding, Findings, Overlap};
pub use sale_set::judge_sale_set;

use self::inconclusive::InconclusiveReason;
use self::matching::{Matching, Promise};
use crate::facts::{Facts, Observation};
use crate::responses::Responses;
use crate::shop::response::ResponseKind;

/// Buyers who come one at a time and are rejected, or get no answer, one after the other: so many, and nobody can buy any
/// more. After fewer, or with a sale between them, only some cannot.
pub(crate) const FAILURES: usize = 3;

/// What a round was about: all that the verdict needs to know of the plan.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// Units the sale was opened with.
    pub stock: i64,
    /// Units of each purchase.
    pub quantity: i64,
    /// Whether purchases had to meet each other.
    pub contended: bool,
    /// How many instances had to take part.
    pub instances: usize,
    /// Whether something was broken on purpose; only then may an answer stay away, unless its buyer hung up.
    pub fault: Option<FaultSeen>,
}

/// Whether the fault of a round struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultSeen {
    /// It did, and by `healed` everything was back.
    Struck {
        /// When it was.
        healed: Instant,
        /// What it explains of purchases that were sent before.
        explains: ExplainedUnknowns,
    },
    /// It did not: the round proves nothing.
    Missed,
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

/// What a round shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing was wrong, and it could have been.
    Holds,
    /// Something was wrong.
    Violated,
    /// Nothing was wrong, but the round was no test.
    Inconclusive,
}

/// The verdict with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// What was found.
    pub findings: Findings,
    /// The orders that are lost, ghosts or duplicates, at most [`MOST_EVIDENCE`] of them.
    pub evidence: Vec<Evidence>,
    /// Why the round proves nothing, where it does not.
    pub inconclusive: Option<String>,
    /// Whether nothing that the shop did is among the reasons: such a round may be played once more.
    pub is_chance: bool,
    /// Whether the only reason is that too few competed for this item.
    pub lacks_a_crowd: bool,
    /// Units in the ledger, at the last look.
    pub recorded: i64,
    /// Units recorded for purchases whose answer never came: explained, and told apart from ghosts.
    pub explained: i64,
    /// The counter, at the last look.
    pub stock_left: Option<i64>,
}

/// Judges one round by all looks at its ledgers, in the order in which they were taken.
pub fn judge(expected: &Expectation, responses: &Responses, observations: &[Observation]) -> Judgement {
    let mut findings = Findings::default();
    let promises = Promise::all(responses);
    let mut lost = BTreeSet::new();
    let mut evidence = BTreeSet::new();
    let mut explained = 0;
    for look in observations {
        findings.add(Finding::Unreadable, unreadable(&look.facts));
        if look.facts.cut_short {
            // More orders than purchases were ever sent. How many more is not worth reading.
            findings.add(Finding::Ghost, look.facts.orders.len().max(1) as i64);
            continue;
        }
        let matching = Matching::new(&promises, responses, &look.facts, look.begun);
        lost.extend(matching.lost);
        let counts = |found: &Evidence| look.at_rest || found.finding == Finding::Lost;
        evidence.extend(matching.evidence.into_iter().filter(counts));
        if look.at_rest {
            findings.add(Finding::Ghost, clamped(matching.ghost));
            findings.add(Finding::Duplicate, clamped(matching.duplicate));
            explained = clamped(matching.explained);
            at_rest(&mut findings, expected, &promises, responses, &look.facts);
        }
    }
    let lost = lost.into_iter().map(|place| i128::from(promises[place].quantity()));
    findings.add(Finding::Lost, clamped(lost.sum()));
    findings.add(Finding::FalseRefusal, false_refusals(responses) * expected.quantity);
    let last = observations.iter().rfind(|look| look.at_rest);
    let inconclusive_reasons = last.map_or_else(Vec::new, |last| inconclusive::reasons(expected, responses, last));
    let reason = match last {
        Some(_) => inconclusive_reasons.first().map(|doubt| doubt.why.clone()),
        None => Some("the ledgers were never seen at rest".to_owned()),
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
        is_chance: is_inconclusive
            && !inconclusive_reasons.is_empty()
            && inconclusive_reasons.iter().all(InconclusiveReason::is_chance),
        lacks_a_crowd: is_inconclusive
            && !inconclusive_reasons.is_empty()
            && inconclusive_reasons.iter().all(InconclusiveReason::is_of_crowd),
        inconclusive: reason.filter(|_| is_inconclusive),
        recorded: last.map_or(0, |look| clamped(recorded(&look.facts))),
        explained,
        stock_left: last.and_then(|look| look.facts.stock_left),
    }
}

/// What has to agree once all purchases are answered and the sale is over.
fn at_rest(
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
    findings.add(Finding::Drift, clamped(stock - i128::from(left) - recorded));
    let could_be_sold = left.max(0) / expected.quantity * expected.quantity;
    let refused = responses.count(ResponseKind::SoldOut) as i64 * expected.quantity;
    findings.add(Finding::Undersold, could_be_sold.min(refused));
    // A shop that never sold anything is not stuck but dead: that proves nothing, not even that a strategy fails.
    let is_stuck = promised > 0 && could_be_sold > 0 && nobody_can_buy(responses);
    findings.add(Finding::Stuck, i64::from(is_stuck));
}

/// What those who came one at a time were told in the end. Who is told busy last has come again for as long as units may
/// be on reserve.
fn nobody_can_buy(responses: &Responses) -> bool {
    let words = responses.follow_up.iter().rev().map(|response| response.kind);
    let after_last_sale = words.take_while(|kind| !matches!(kind, ResponseKind::Sold | ResponseKind::SoldOut));
    let failures = after_last_sale.filter(|kind| *kind != ResponseKind::Busy).count();
    failures >= FAILURES
        || responses
            .follow_up
            .last()
            .is_some_and(|response| response.kind == ResponseKind::Busy)
}

/// Purchases that were told sold out before another one was sent which then was sold.
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

/// What is in the ledger may have been put there so that its sum does not fit.
fn recorded(facts: &Facts) -> i128 {
    facts.orders.iter().map(|order| i128::from(order.quantity)).sum()
}

fn clamped(units: i128) -> i64 {
    i64::try_from(units).unwrap_or(if units < 0 { i64::MIN } else { i64::MAX })
}
