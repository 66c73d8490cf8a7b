//! Whether purchases of an item competed. An item to which too few buyers came is forgiven beside one with enough of them; an
//! item at which they were told busy instead is not: a shop that sells little must not be excused by that.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use super::inconclusive::InconclusiveReason;
use super::{Expectation, FaultSeen};
use crate::responses::Responses;
use crate::shop::response::{Response, ResponseKind};
use crate::text::counted;

/// Returns the sales that an item needs while buyers compete: with fewer, no unit can be sold twice.
pub(crate) fn enough_sales(stock: i64, quantity: i64) -> i64 {
    (stock / quantity).min(2)
}

/// The purchases of an item that were sold, by their keys, each with the time at which its buyer first learnt it.
struct Sales<'a>(HashMap<&'a str, Instant>);

impl<'a> Sales<'a> {
    fn of(responses: &'a Responses) -> Self {
        let mut sales: HashMap<&str, Instant> = HashMap::new();
        for response in responses.all().filter(|response| response.kind == ResponseKind::Sold) {
            let told = sales.entry(&response.key).or_insert(response.ended);
            *told = response.ended.min(*told);
        }
        Self(sales)
    }

    /// Returns whether the purchase was sold, by this delivery or by another one.
    fn have(&self, response: &Response) -> bool {
        self.0.contains_key(response.key.as_str())
    }

    /// Returns whether a purchase was refused while there was something to sell: it was told busy, and sent before the last
    /// sale was over.
    fn refuse(&self, response: &Response) -> bool {
        let is_busy = response.kind == ResponseKind::Busy && !self.have(response);
        is_busy && self.0.values().max().is_some_and(|last| response.sent < *last)
    }
}

/// Checks that purchases overlapped. Without a fault at least two of them have to be sold: with fewer, no unit can be
/// sold twice. The overlap is chance, but the number of sales is not.
pub(super) fn no_contention(expected: &Expectation, responses: &Responses) -> Option<InconclusiveReason> {
    if !expected.contended {
        return None;
    }
    let is_broken = expected.fault.is_some();
    let sales = Sales::of(responses);
    let sold = responses.attack.iter().filter(|response| sales.have(response)).count();
    let is_too_few = (sold as i64) < enough_sales(expected.stock, expected.quantity);
    if !responses.overlapped(|response| is_broken || sales.have(response)) {
        let why = if is_broken {
            "no two purchases overlapped"
        } else {
            "no sale overlapped with another purchase"
        };
        let some_are_refused = responses.attack.iter().any(|response| sales.refuse(response));
        let met = || responses.overlapped(|response| sales.refuse(response));
        // Under a fault, busy may be all that a shop can say.
        let are_refused = !is_broken && some_are_refused && (is_too_few || met());
        return Some(InconclusiveReason::of_chance(why.to_owned()).unless_refused(are_refused));
    }
    let why = || {
        let sold = counted(sold, ["purchase was", "purchases were"]);
        format!("only {sold} sold while buyers competed")
    };
    (!is_broken && is_too_few).then(|| InconclusiveReason::of_shop(why()))
}

/// Checks that every instance took part. An instance that only says busy sells nothing, so no purchases can meet there.
pub(super) fn left_out(expected: &Expectation, responses: &Responses) -> Option<InconclusiveReason> {
    let took_part = instances(expected, responses);
    if took_part.len() >= expected.instances {
        return None;
    }
    let sales = Sales::of(responses);
    // A response without a name may be of any instance.
    let is_elsewhere = |response: &Response| {
        response
            .instance
            .as_deref()
            .is_none_or(|name| !took_part.contains(name))
    };
    let mut attack = responses.attack.iter();
    let are_refused = attack.any(|response| sales.refuse(response) && is_elsewhere(response));
    let why = format!(
        "only {} of {} instances sold anything or said sold out",
        took_part.len(),
        expected.instances
    );
    Some(InconclusiveReason::of_chance(why).unless_refused(expected.fault.is_none() && are_refused))
}

/// Returns which instances took part: in the attack, or after a fault in everything that was sent when the shop was
/// healed.
fn instances<'a>(expected: &Expectation, responses: &'a Responses) -> HashSet<&'a str> {
    let healed = match expected.fault {
        Some(FaultSeen::Struck { healed, .. }) => Some(healed),
        Some(FaultSeen::Missed | FaultSeen::Unproven) | None => None,
    };
    let counts = |response: &&Response| healed.is_none_or(|healed| response.sent >= healed);
    let is_decision = |response: &&Response| matches!(response.kind, ResponseKind::Sold | ResponseKind::SoldOut);
    let deciding = responses.all().filter(counts).filter(is_decision);
    let deciding: HashSet<&str> = deciding.filter_map(|response| response.instance.as_deref()).collect();
    if healed.is_some() {
        return deciding;
    }
    // A buyer that was told busy in the attack may have got another response later.
    let attacked = responses
        .attack
        .iter()
        .filter_map(|response| response.instance.as_deref());
    deciding.intersection(&attacked.collect()).copied().collect()
}
