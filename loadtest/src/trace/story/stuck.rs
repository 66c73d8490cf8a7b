//! Purchases that show why no buyer can buy any more.

use std::collections::HashMap;

use crate::responses::Responses;
use crate::shop::response::ResponseKind;
use crate::trace::event::Role;
use crate::trace::hold_span::HoldSpan;
use crate::trace::purchase::{Step, TracedPurchase};

/// Returns the last purchase that took the lock and never released it, and the first one that then was told busy.
pub(super) fn stuck<'a>(purchases: &'a [TracedPurchase], responses: &Responses) -> Vec<&'a TracedPurchase> {
    let kinds: HashMap<&str, ResponseKind> = responses
        .purchases()
        .iter()
        .map(|outcome| (outcome.buyer, outcome.kind))
        .collect();
    let was_told = |purchase: &TracedPurchase, kind| kinds.get(purchase.buyer.as_str()) == Some(&kind);
    let last_span = |purchase: &TracedPurchase| HoldSpan::all(purchase).pop();
    let inside = purchases
        .iter()
        .filter(|purchase| last_span(purchase).is_some_and(|span| !span.is_released))
        .max_by_key(|purchase| (purchase.is_life_over, purchase.last_ns()));
    // An instance may die right after it took the lock. Purchases that died while they asked for it asked later.
    let died_at_lock = || {
        let at_lock = |step: &Step| step.role == Some(Role::Lock) && step.end.is_some();
        let dead = purchases.iter().filter(|purchase| purchase.is_life_over);
        let dead = dead.filter(|purchase| purchase.steps.last().is_some_and(at_lock));
        dead.min_by_key(|purchase| purchase.last_ns())
    };
    // A purchase may never learn that it got the lock: its result is not the usual refusal. Others like it asked later.
    let outside = || purchases.iter().filter(|purchase| HoldSpan::all(purchase).is_empty());
    let usual = usual_refusal(outside());
    let first_unheard = || {
        let asked = outside().filter_map(|purchase| Some((purchase, purchase.last(Role::Lock)?)));
        let unheard = asked.filter(|(_, step)| step.said() != usual);
        let asked_at = unheard.map(|(purchase, step)| (purchase, step.began_ns));
        asked_at.min_by_key(|(_, began_ns)| *began_ns)
    };
    // The release of the last holder may have failed: no other purchase had the lock after it.
    let last_inside = || {
        let left = |purchase| Some((purchase, last_span(purchase)?.until_ns));
        purchases.iter().filter_map(left).max_by_key(|(_, until_ns)| *until_ns)
    };
    let was_inside = inside.or_else(died_at_lock).map(|holder| (holder, holder.last_ns()));
    let unheard = || {
        first_unheard()
            .into_iter()
            .chain(last_inside())
            .max_by_key(|(_, at_ns)| *at_ns)
    };
    let Some((holder, since_ns)) = was_inside.or_else(unheard) else {
        return Vec::new();
    };
    let is_refused = |purchase: &&TracedPurchase| {
        let asked = purchase.last(Role::Lock).map(|step| step.began_ns);
        !purchase.is_life_over && asked > Some(since_ns) && HoldSpan::all(purchase).is_empty()
    };
    let refused = || purchases.iter().filter(is_refused);
    let told_busy = refused().find(|purchase| was_told(purchase, ResponseKind::Busy));
    // A buyer that was told sold bought by another delivery of its purchase, and shows nothing.
    let not_sold = || refused().find(|purchase| !was_told(purchase, ResponseKind::Sold));
    [holder].into_iter().chain(told_busy.or_else(not_sold)).collect()
}

/// Returns the most frequent result of the lock step among purchases that did not get the lock.
fn usual_refusal<'a>(outside: impl Iterator<Item = &'a TracedPurchase>) -> Option<&'a str> {
    let mut times: HashMap<&str, usize> = HashMap::new();
    let steps = outside.flat_map(|purchase| &purchase.steps);
    for said in steps
        .filter(|step| step.role == Some(Role::Lock))
        .filter_map(Step::said)
    {
        *times.entry(said).or_default() += 1;
    }
    let most = times.into_iter().max_by_key(|(said, times)| (*times, *said));
    most.map(|(said, _)| said)
}
