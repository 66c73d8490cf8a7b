//! The choice of the purchases that show a finding.

use std::collections::{HashMap, HashSet};

use super::ended_late::ended_late;
use super::held_up::held_up;
use super::stuck::stuck;
use super::updates::{Update, lost_update, met, took_the_same};
use crate::audit::Finding;
use crate::facts::Facts;
use crate::responses::Responses;
use crate::shop::response::ResponseKind;
use crate::trace::event::Role;
use crate::trace::purchase::{Trace, TracedPurchase};
use crate::trace::work::Work;

/// Returns the purchases that show the finding best. Where there are none, two purchases that overlapped stand for it,
/// or one without a response.
pub(super) fn chosen<'a>(
    finding: Finding,
    trace: &'a Trace,
    work: &Work<'a>,
    responses: &Responses,
    ledger: Option<&Facts>,
) -> Vec<&'a TracedPurchase> {
    let purchases = trace.purchases.as_slice();
    let shown = match finding {
        Finding::Oversold | Finding::Drift => {
            let sold = sold(purchases, responses);
            let ledger = ledger.filter(|_| finding == Finding::Drift);
            let dead = ledger.and_then(|ledger| died_in_between(purchases, responses, ledger).next());
            let dead = || dead.into_iter().collect();
            let choices: [&dyn Fn() -> Vec<&'a TracedPurchase>; 5] = [
                &dead,
                &|| ended_late(work, &sold),
                &|| held_up(trace, &sold),
                &|| lost_update(Update::all(&sold)),
                &|| took_the_same(&sold),
            ];
            let mut choices = choices.into_iter().map(|choice| choice());
            choices.find(|chosen| !chosen.is_empty()).unwrap_or_default()
        }
        Finding::Stuck => stuck(purchases, responses),
        Finding::Lost | Finding::Ghost | Finding::Duplicate => {
            let wrong = ledger
                .map(|ledger| wrong_orders(finding, responses, ledger))
                .unwrap_or_default();
            let is_wrong =
                |purchase: &&TracedPurchase| purchase.order.as_deref().is_some_and(|order| wrong.contains(order));
            purchases.iter().filter(is_wrong).collect()
        }
        Finding::FalseRefusal => refused_and_sold(purchases, responses),
        // The last buyer that could still buy.
        Finding::Unreadable => sold(purchases, responses).pop().into_iter().collect(),
        Finding::Undersold | Finding::Unavailable => Vec::new(),
    };
    let met = || met(Update::all(&sold(purchases, responses)));
    let unanswered = || unanswered(purchases, responses);
    // Counter and ledger usually differ because a purchase stopped halfway.
    let second_best = if finding == Finding::Drift {
        [unanswered(), met()]
    } else {
        [met(), unanswered()]
    };
    let mut best = [shown].into_iter().chain(second_best);
    best.find(|chosen| !chosen.is_empty()).unwrap_or_default()
}

/// Returns one purchase that had begun to write, to record or to commit, and whose buyer got no response. A purchase
/// whose instance was killed comes first.
fn unanswered<'a>(purchases: &'a [TracedPurchase], responses: &Responses) -> Vec<&'a TracedPurchase> {
    let responses = responses.purchases();
    let silent = responses
        .iter()
        .filter(|purchase| purchase.kind == ResponseKind::Unknown);
    let silent: HashSet<&str> = silent.map(|purchase| purchase.buyer).collect();
    let has_begun = |purchase: &&TracedPurchase| {
        let roles = [Role::Write, Role::Record, Role::Commit];
        roles.into_iter().any(|role| purchase.last(role).is_some())
    };
    let silent = purchases
        .iter()
        .filter(|purchase| silent.contains(purchase.buyer.as_str()));
    let mut begun: Vec<&TracedPurchase> = silent.filter(has_begun).collect();
    begun.sort_by_key(|purchase| !purchase.is_life_over);
    begun.truncate(1);
    begun
}

/// Returns the purchases that had written when their instance was killed: their buyer got no response, and the ledger
/// has no order of them.
fn died_in_between<'a>(
    purchases: &'a [TracedPurchase],
    responses: &Responses,
    ledger: &Facts,
) -> impl Iterator<Item = &'a TracedPurchase> {
    let responses = responses.purchases();
    let silent = responses
        .iter()
        .filter(|purchase| purchase.kind == ResponseKind::Unknown);
    let silent: HashSet<String> = silent.map(|purchase| purchase.buyer.to_owned()).collect();
    let recorded: HashSet<String> = ledger.orders.iter().map(|order| order.id.clone()).collect();
    purchases.iter().filter(move |purchase| {
        let has_written = purchase.last(Role::Write).is_some_and(|step| step.end.is_some());
        let has_order = purchase.order.as_ref().is_none_or(|order| recorded.contains(order));
        purchase.is_life_over && silent.contains(&purchase.buyer) && has_written && !has_order
    })
}

/// Returns the number of such purchases at the instance of `purchase`, itself included.
pub(super) fn gone(
    purchase: &TracedPurchase,
    purchases: &[TracedPurchase],
    responses: &Responses,
    ledger: &Facts,
) -> i64 {
    let dead = died_in_between(purchases, responses, ledger);
    dead.filter(|dead| dead.instance == purchase.instance).count() as i64
}

/// Returns the deliveries of purchases whose buyer was told sold.
fn sold<'a>(purchases: &'a [TracedPurchase], responses: &Responses) -> Vec<&'a TracedPurchase> {
    let sold = responses.all().filter(|response| response.kind == ResponseKind::Sold);
    let buyers: HashSet<&str> = sold.map(|response| response.buyer.as_str()).collect();
    purchases
        .iter()
        .filter(|purchase| buyers.contains(purchase.buyer.as_str()))
        .collect()
}

/// Returns the ids of the orders that the finding is about. Lost orders were promised and are not in the ledger. Ghost
/// orders are in the ledger and were promised to no buyer. Duplicate orders share an idempotency key.
fn wrong_orders<'a>(finding: Finding, responses: &'a Responses, ledger: &'a Facts) -> HashSet<&'a str> {
    let sold = responses.all().filter(|response| response.kind == ResponseKind::Sold);
    let promised: HashSet<&str> = sold.filter_map(|response| response.order.as_deref()).collect();
    let recorded = || ledger.orders.iter().map(|order| order.id.as_str());
    if finding == Finding::Lost {
        let recorded: HashSet<&str> = recorded().collect();
        return promised.difference(&recorded).copied().collect();
    }
    if finding == Finding::Ghost {
        return recorded().filter(|order| !promised.contains(order)).collect();
    }
    let mut keys: HashMap<&str, usize> = HashMap::new();
    for key in ledger.orders.iter().filter_map(|order| order.key.as_deref()) {
        *keys.entry(key).or_default() += 1;
    }
    let is_shared = |key: &str| keys.get(key).is_some_and(|orders| *orders > 1);
    let shared = ledger
        .orders
        .iter()
        .filter(|order| order.key.as_deref().is_some_and(is_shared));
    shared.map(|order| order.id.as_str()).collect()
}

/// Returns the first purchase that was told sold out, and the last one that was told sold all the same.
fn refused_and_sold<'a>(purchases: &'a [TracedPurchase], responses: &Responses) -> Vec<&'a TracedPurchase> {
    let responses = responses.purchases();
    let refused = responses
        .iter()
        .filter(|purchase| purchase.kind == ResponseKind::SoldOut);
    let refused = refused.min_by_key(|purchase| purchase.refused);
    let sold = responses
        .iter()
        .filter(|purchase| purchase.kind == ResponseKind::Sold)
        .max_by_key(|purchase| purchase.sent);
    let of = |buyer: &str| purchases.iter().find(|purchase| purchase.buyer == buyer);
    [refused, sold]
        .into_iter()
        .flatten()
        .filter_map(|purchase| of(purchase.buyer))
        .collect()
}
