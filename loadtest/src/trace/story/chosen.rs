//! Which purchases show a finding.

use std::collections::{HashMap, HashSet};

use super::stuck::stuck;
use super::updates::{Update, lost_update, met, took_the_same};
use crate::audit::Finding;
use crate::facts::Facts;
use crate::responses::Responses;
use crate::shop::response::ResponseKind;
use crate::trace::event::Role;
use crate::trace::purchase::TracedPurchase;

/// Those that show it best, the first one first; those that met if it has no better ones, and none if none did.
pub(super) fn chosen<'a>(
    finding: Finding,
    purchases: &'a [TracedPurchase],
    responses: &Responses,
    ledger: Option<&Facts>,
) -> Vec<&'a TracedPurchase> {
    let shown = match finding {
        Finding::Oversold | Finding::Drift => {
            let sold = sold(purchases, responses);
            let lost = lost_update(Update::all(&sold));
            if lost.is_empty() { took_the_same(&sold) } else { lost }
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
        // Whoever was the last to find something there.
        Finding::Unreadable => sold(purchases, responses).pop().into_iter().collect(),
        Finding::Undersold => Vec::new(),
    };
    let met = || met(Update::all(&sold(purchases, responses)));
    let unanswered = || unanswered(purchases, responses);
    // Where the counter and the ledger differ, they do so by what was left half done.
    let second_best = if finding == Finding::Drift {
        [unanswered(), met()]
    } else {
        [met(), unanswered()]
    };
    let mut best = [shown].into_iter().chain(second_best);
    best.find(|chosen| !chosen.is_empty()).unwrap_or_default()
}

/// Who had begun to write, to record or to commit and got no answer; first of all whoever was killed at it.
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

/// The deliveries of purchases that were told sold.
fn sold<'a>(purchases: &'a [TracedPurchase], responses: &Responses) -> Vec<&'a TracedPurchase> {
    let sold = responses.all().filter(|response| response.kind == ResponseKind::Sold);
    let buyers: HashSet<&str> = sold.map(|response| response.buyer.as_str()).collect();
    purchases
        .iter()
        .filter(|purchase| buyers.contains(purchase.buyer.as_str()))
        .collect()
}

/// The ids of orders that were promised and are not in the ledger, that are there and were promised to nobody, or that
/// share an idempotency key.
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

/// The first one who was told sold out, and the last one who was sold to all the same.
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
        .filter_map(|responses| of(responses.buyer))
        .collect()
}
