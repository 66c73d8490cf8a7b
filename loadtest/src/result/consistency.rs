//! Whether a result agrees with itself. It is a file that anybody can edit: what follows from the numbers of a round is
//! computed again, and a result that says something else is refused.

use anyhow::{Result, bail, ensure};

use crate::audit::{Finding, MOST_EVIDENCE, Verdict};
use crate::responses::latency::Latency;
use crate::result::cell::claim_check;
use crate::result::{RoundResult, RunResult};
use crate::shop::response::ResponseKind;
use crate::text::{MAX_NAME, is_name, one_line};
use crate::threats;
use crate::trace::Story;

/// A rule for one field of a round: its name, the sentence about it, and whether a round keeps it.
type Rule = (&'static str, &'static str, fn(&RoundResult) -> bool);

/// Every rule. A rule may rely on those before it.
const RULES: &[Rule] = &[
    ("strategy", "is no name", |round| is_name(&round.strategy)),
    ("threat", "is no name", |round| is_name(&round.threat)),
    ("instances", "is not at least 1", |round| round.instances > 0),
    ("buyers", "is not at least 1", |round| round.buyers > 0),
    ("items", "is not at least 1", |round| round.items > 0),
    ("quantity", "is not at least 1", |round| round.quantity > 0),
    ("repeat", "is not at least 1", |round| round.repeat > 0),
    ("stock", "is less than 0", |round| round.stock >= 0),
    ("demand", "is no number of whole purchases", |round| {
        is_whole(round, round.demand)
    }),
    (
        "told",
        "is there in a round that was not played, or absent in another one",
        |round| round.told.is_empty() == round.why_unplayed().is_some(),
    ),
    ("told", "is no number of whole purchases", |round| {
        round.told.values().all(|units| is_whole(round, *units))
    }),
    ("explained", "is less than 0", |round| round.facts.explained >= 0),
    ("findings", "are less than 0", |round| {
        round
            .findings
            .found()
            .all(|(finding, size)| size > 0 || finding == Finding::Drift)
    }),
    ("verdict", "does not follow from the findings and reasons", |round| {
        round.verdict == verdict(round)
    }),
    ("inconclusive", "is the reason of another verdict", |round| {
        round.verdict == Verdict::Inconclusive || round.inconclusive.is_none() && round.why_unplayed().is_none()
    }),
    ("not_playable", "is there in a skipped round", |round| {
        round.not_playable.is_none() || round.skipped.is_none()
    }),
    ("claimed", "contradicts the threat or another claim", |round| {
        let claims = [round.claimed, round.sometimes_broken, round.undeclared];
        let is_control = threats::find(&round.threat).is_some_and(|threat| threat.is_control);
        claims.iter().filter(|claim| **claim).count() <= 1 && (round.claimed || !is_control)
    }),
    ("as_designed", "does not follow from claim and verdict", |round| {
        round.as_designed == RoundResult::is_as_designed(round.verdict, round.claimed, may_hold(round))
    }),
    (
        "oversold",
        "is less than was told sold or recorded beyond the stock",
        |round| !is_read(round) || found(round, Finding::Oversold) >= beyond_stock(round),
    ),
    (
        "oversold",
        "is more than was told sold or recorded beyond the stock",
        |round| !is_counted_once(round) || found(round, Finding::Oversold) <= beyond_stock(round).max(0),
    ),
    ("drift", "is less than what the counter lacks", |round| {
        // A finding is at most the largest number that a result can hold.
        let lacks = (stock(round) - left(round) - recorded(round))
            .abs()
            .min(i64::MAX.into());
        !is_read(round) || found(round, Finding::Drift).abs() >= lacks
    }),
    (
        "undersold",
        "is less than what was left while buyers were told sold out",
        |round| {
            let quantity = i128::from(round.quantity);
            let could_be_sold = left(round).max(0) / quantity * quantity;
            let refused = told(round, ResponseKind::SoldOut);
            !is_read(round) || round.items > 1 || found(round, Finding::Undersold) >= could_be_sold.min(refused)
        },
    ),
    ("stuck", "is more than all items", |round| {
        found(round, Finding::Stuck) <= round.items as i128
    }),
    (
        "told",
        "is of no round that holds: nothing was sold, or a purchase was rejected",
        |round| !holds(round) || told(round, ResponseKind::Sold) > 0 && told(round, ResponseKind::Rejected) == 0,
    ),
    ("told", "is less than was asked for", |round| {
        let all: i128 = ResponseKind::ALL.into_iter().map(|kind| told(round, kind)).sum();
        !holds(round) || all >= i128::from(round.demand)
    }),
    ("unknown", "is not explained: nothing was broken on purpose", |round| {
        let is_unbroken = threats::find(&round.threat).is_some_and(|threat| threat.injection.is_none());
        !holds(round) || !is_unbroken || told(round, ResponseKind::Unknown) == 0
    }),
    ("recorded", "is not what was told sold or explained", |round| {
        !holds(round) || recorded(round) == told(round, ResponseKind::Sold) + i128::from(round.facts.explained)
    }),
    ("stock_left", "is not the rest of a sale that holds", |round| {
        let most = round.items as i128 * i128::from(round.quantity - 1);
        !holds(round) || is_read(round) && (0..=most).contains(&left(round))
    }),
    ("evidence", "shows what was not found", |round| {
        let named = round.evidence.iter().map(|evidence| evidence.finding);
        let has_evidence = [Finding::Lost, Finding::Ghost, Finding::Duplicate];
        let mut is_found = named.map(|finding| has_evidence.contains(&finding) && found(round, finding) > 0);
        round.evidence.len() <= MOST_EVIDENCE && is_found.all(|is_found| is_found)
    }),
    ("story", "shows what was not found, or is too long", |round| {
        let agrees = |story: &Story| found(round, story.shows) != 0 && story.is_within_limits();
        round.story.as_ref().is_none_or(agrees)
    }),
    (
        "latency_us",
        "does not rise, or counts more sales than there were",
        |round| {
            let rises = |of: &Latency| of.n > 0 && [of.p50, of.p95, of.p99, of.p99_9, of.max].is_sorted();
            let sales = i128::from(sales(round)) * i128::from(round.quantity);
            round.latency_us.values().all(rises) && sales <= told(round, ResponseKind::Sold)
        },
    ),
    ("sales_per_s", "is not the speed of the sales", |round| {
        round.sales_per_s >= 0.0 && (round.sales_per_s > 0.0) == (sales(round) > 0)
    }),
    ("jain", "is not from 0 to 1", |round| {
        round.jain.is_none_or(|jain| (0.0..=1.0).contains(&jain))
    }),
];

/// Checks every round, and what is derived from all of them.
///
/// # Errors
/// At the first disagreement. The message names the round and the field.
pub(super) fn check(run: &RunResult) -> Result<()> {
    for (place, round) in run.rounds.iter().enumerate() {
        let broken = RULES.iter().find(|(_, _, is_kept)| !is_kept(round));
        if let Some((field, why, _)) = broken {
            let [strategy, threat] = [&round.strategy, &round.threat].map(|name| one_line(name, MAX_NAME));
            let (number, repeat) = (place + 1, round.repeat);
            bail!("round {number} ({strategy}, {threat}, repeat {repeat}) disagrees with itself: {field} {why}");
        }
    }
    let as_designed = claim_check(run).as_designed();
    let shown = |is: Option<bool>| is.map_or("null".to_owned(), |is| is.to_string());
    ensure!(
        run.as_designed == as_designed,
        "as_designed is {}, and the rounds make it {}",
        shown(run.as_designed),
        shown(as_designed)
    );
    Ok(())
}

/// Returns the verdict that follows from the findings, and from the reasons why the round proves nothing.
fn verdict(round: &RoundResult) -> Verdict {
    if round.findings.found().next().is_some() {
        Verdict::Violated
    } else if round.inconclusive.is_some() || round.why_unplayed().is_some() {
        Verdict::Inconclusive
    } else {
        Verdict::Holds
    }
}

fn holds(round: &RoundResult) -> bool {
    round.verdict == Verdict::Holds
}

/// Whether it is no contradiction that the round holds, although nobody claims it.
fn may_hold(round: &RoundResult) -> bool {
    round.sometimes_broken || round.undeclared
}

/// Whether the ledgers were read to their ends after the sale. A ledger that is far too long is a ghost, and is not
/// counted.
fn is_read(round: &RoundResult) -> bool {
    round.facts.stock_left.is_some() && found(round, Finding::Ghost) == 0
}

/// Whether each sale was told once and each order was there at every reading. Otherwise more may have been sold or
/// recorded than the last numbers show.
fn is_counted_once(round: &RoundResult) -> bool {
    let is_clean = |finding| found(round, finding) == 0;
    is_read(round)
        && round.items == 1
        && is_clean(Finding::Lost)
        && is_clean(Finding::Duplicate)
        && told(round, ResponseKind::Unknown) == 0
}

/// Returns the units that were told sold or recorded beyond the stock; negative where units were left.
fn beyond_stock(round: &RoundResult) -> i128 {
    told(round, ResponseKind::Sold).max(recorded(round)) - stock(round)
}

fn is_whole(round: &RoundResult, units: i64) -> bool {
    units >= 0 && units % i64::from(round.quantity) == 0
}

fn found(round: &RoundResult, finding: Finding) -> i128 {
    round.findings.of(finding).into()
}

fn told(round: &RoundResult, kind: ResponseKind) -> i128 {
    round.units(kind).into()
}

fn recorded(round: &RoundResult) -> i128 {
    round.facts.recorded.into()
}

fn left(round: &RoundResult) -> i128 {
    round.facts.stock_left.unwrap_or(0).into()
}

fn stock(round: &RoundResult) -> i128 {
    i128::from(round.stock) * round.items as i128
}

/// Returns the purchases that were sold in the attack.
fn sales(round: &RoundResult) -> u64 {
    round.latency_us.get(&ResponseKind::Sold).map_or(0, |latency| latency.n)
}
