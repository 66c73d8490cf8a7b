//! Purchases that show why no buyer can buy any more.

use std::collections::HashMap;

use crate::responses::Responses;
use crate::shop::response::ResponseKind;
use crate::trace::event::Role;
use crate::trace::hold_span::HoldSpan;
use crate::trace::purchase::{Step, TracedPurchase};

/// The most holders of permits that are shown: together with the purchase that was refused they fill a story.
const MOST_HOLDERS: usize = 2;

/// Returns the last purchase that took the lock and never released it, and the first one that then was told busy. Where
/// purchases ask for permits, each of several holders may have died with one.
pub(super) fn stuck<'a>(purchases: &'a [TracedPurchase], responses: &Responses) -> Vec<&'a TracedPurchase> {
    let asks_for_lock = purchases.iter().any(|purchase| purchase.last(Role::Lock).is_some());
    let asks = if asks_for_lock { Role::Lock } else { Role::Permit };
    let kinds: HashMap<&str, ResponseKind> = responses
        .purchases()
        .iter()
        .map(|outcome| (outcome.buyer, outcome.kind))
        .collect();
    let was_told = |purchase: &TracedPurchase, kind| kinds.get(purchase.buyer.as_str()) == Some(&kind);
    let Some((holder, since_ns)) = holder(asks, purchases) else {
        return Vec::new();
    };
    let is_dead = |purchase: &&TracedPurchase| {
        asks == Role::Permit && purchase.is_life_over && is_inside(asks, purchase) && !std::ptr::eq(*purchase, holder)
    };
    let others = purchases.iter().filter(is_dead).take(MOST_HOLDERS - 1);
    let is_refused = |purchase: &&TracedPurchase| {
        let asked = purchase.last(asks).map(|step| step.began_ns);
        !purchase.is_life_over && asked > Some(since_ns) && HoldSpan::all_by(asks, purchase).is_empty()
    };
    let refused = || purchases.iter().filter(is_refused);
    let told_busy = refused().find(|purchase| was_told(purchase, ResponseKind::Busy));
    // A buyer that was told sold bought by another delivery of its purchase, and shows nothing.
    let not_sold = || refused().find(|purchase| !was_told(purchase, ResponseKind::Sold));
    let refused = told_busy.or_else(not_sold);
    [holder].into_iter().chain(others).chain(refused).collect()
}

/// Returns the purchase that keeps others out, and the time since when it does.
fn holder(asks: Role, purchases: &[TracedPurchase]) -> Option<(&TracedPurchase, u64)> {
    let inside = purchases
        .iter()
        .filter(|purchase| is_inside(asks, purchase))
        .max_by_key(|purchase| (purchase.is_life_over, purchase.last_ns()));
    // An instance may die right after it took the lock. Purchases that died while they asked for it asked later.
    let died_at_lock = || {
        let at_lock = |step: &Step| step.role == Some(asks) && step.end.is_some();
        let dead = purchases.iter().filter(|purchase| purchase.is_life_over);
        let dead = dead.filter(|purchase| purchase.steps.last().is_some_and(at_lock));
        dead.min_by_key(|purchase| purchase.last_ns())
    };
    // A purchase may never learn that it got the lock: its result is not the usual refusal. Others like it asked later.
    let is_outside = |purchase: &&TracedPurchase| HoldSpan::all_by(asks, purchase).is_empty();
    let outside = || purchases.iter().filter(is_outside);
    let usual = usual_refusal(asks, outside());
    let first_unheard = || {
        let asked = outside().filter_map(|purchase| Some((purchase, purchase.last(asks)?)));
        let unheard = asked.filter(|(_, step)| step.said() != usual);
        let asked_at = unheard.map(|(purchase, step)| (purchase, step.began_ns));
        asked_at.min_by_key(|(_, began_ns)| *began_ns)
    };
    // The release of the last holder may have failed: no other purchase had the lock after it.
    let last_inside = || {
        let left = |purchase| Some((purchase, last_span(asks, purchase)?.until_ns));
        purchases.iter().filter_map(left).max_by_key(|(_, until_ns)| *until_ns)
    };
    let was_inside = inside.or_else(died_at_lock).map(|holder| (holder, holder.last_ns()));
    let unheard = || {
        first_unheard()
            .into_iter()
            .chain(last_inside())
            .max_by_key(|(_, at_ns)| *at_ns)
    };
    was_inside.or_else(unheard)
}

fn last_span(asks: Role, purchase: &TracedPurchase) -> Option<HoldSpan> {
    HoldSpan::all_by(asks, purchase).pop()
}

/// Returns whether a purchase took what it asked for and never gave it back.
fn is_inside(asks: Role, purchase: &TracedPurchase) -> bool {
    last_span(asks, purchase).is_some_and(|span| !span.is_released)
}

/// Returns the most frequent result of the step that asks, among purchases that did not get what they asked for.
fn usual_refusal<'a>(asks: Role, outside: impl Iterator<Item = &'a TracedPurchase>) -> Option<&'a str> {
    let mut times: HashMap<&str, usize> = HashMap::new();
    let steps = outside.flat_map(|purchase| &purchase.steps);
    for said in steps.filter(|step| step.role == Some(asks)).filter_map(Step::said) {
        *times.entry(said).or_default() += 1;
    }
    let most = times.into_iter().max_by_key(|(said, times)| (*times, *said));
    most.map(|(said, _)| said)
}
