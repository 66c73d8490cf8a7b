//! Purchases that show why nobody can buy any more.

use std::collections::HashMap;

use crate::responses::Responses;
use crate::shop::response::ResponseKind;
use crate::trace::event::Role;
use crate::trace::hold_span::HoldSpan;
use crate::trace::purchase::{Step, TracedPurchase};

/// The last one who took the lock and never gave it back, and one who then asked for it in vain: the first who was told so.
pub(super) fn stuck<'a>(purchases: &'a [TracedPurchase], responses: &Responses) -> Vec<&'a TracedPurchase> {
    let words: HashMap<&str, ResponseKind> = responses
        .purchases()
        .iter()
        .map(|responses| (responses.buyer, responses.kind))
        .collect();
    let was_told = |purchase: &TracedPurchase, kind| words.get(purchase.buyer.as_str()) == Some(&kind);
    let last_holding = |purchase: &TracedPurchase| HoldSpan::all(purchase).pop();
    let inside = purchases
        .iter()
        .filter(|purchase| last_holding(purchase).is_some_and(|holding| !holding.is_released))
        .max_by_key(|purchase| (purchase.is_life_over, purchase.last_ns()));
    // Killed right after it had taken the lock; others who were killed while they asked for it did so later.
    let died_at_it = || {
        let at_lock = |step: &Step| step.role == Some(Role::Lock) && step.end.is_some();
        let dead = purchases.iter().filter(|purchase| purchase.is_life_over);
        let dead = dead.filter(|purchase| purchase.steps.last().is_some_and(at_lock));
        dead.min_by_key(|purchase| purchase.last_ns())
    };
    // Never heard what came of its asking; others of whom that is true asked later.
    let outside = || purchases.iter().filter(|purchase| HoldSpan::all(purchase).is_empty());
    let usual = usual_refusal(outside());
    let never_heard = || {
        let asked = outside().filter_map(|purchase| Some((purchase, purchase.last(Role::Lock)?)));
        let unheard = asked.filter(|(_, step)| step.said() != usual);
        let asked_at = unheard.map(|(purchase, step)| (purchase, step.began_ns));
        asked_at.min_by_key(|(_, began_ns)| *began_ns)
    };
    // Gave it back for all it knows, and nobody had it after that.
    let last_inside = || {
        let left = |purchase| Some((purchase, last_holding(purchase)?.until_ns));
        purchases.iter().filter_map(left).max_by_key(|(_, until_ns)| *until_ns)
    };
    let was_inside = inside.or_else(died_at_it).map(|holder| (holder, holder.last_ns()));
    let unheard = || {
        never_heard()
            .into_iter()
            .chain(last_inside())
            .max_by_key(|(_, at_ns)| *at_ns)
    };
    let Some((holder, since_ns)) = was_inside.or_else(unheard) else {
        return Vec::new();
    };
    let asks_in_vain = |purchase: &&TracedPurchase| {
        let asked = purchase.last(Role::Lock).map(|step| step.began_ns);
        !purchase.is_life_over && asked > Some(since_ns) && HoldSpan::all(purchase).is_empty()
    };
    let in_vain = || purchases.iter().filter(asks_in_vain);
    let told_so = in_vain().find(|purchase| was_told(purchase, ResponseKind::Busy));
    // Nobody heard anything: whoever was sold to was sold to by another delivery, and shows nothing.
    let told_nothing = || in_vain().find(|purchase| !was_told(purchase, ResponseKind::Sold));
    [holder].into_iter().chain(told_so.or_else(told_nothing)).collect()
}

/// What those hear most often who ask for the lock and do not get it.
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
