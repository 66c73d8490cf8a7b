//! How long nobody could buy, as buyers were told it: the shop is not asked.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::responses::Responses;
use crate::shop::response::{Response, ResponseKind};

/// The longest time between a sale and the next one, or from the start of the attack to the first one, in which a buyer
/// was told busy or got no answer. Of it only that time counts in which somebody was asking: from the sending of a
/// purchase to its last answer. `None` where there was no such time. What follows the last sale does not count: where
/// nobody can buy any more, the round is stuck.
pub fn longest(responses: &Responses) -> Option<Duration> {
    let mut since = responses.attack.iter().map(|response| response.intended).min()?;
    let responses = || responses.attack.iter().chain(&responses.follow_up);
    let ends = |counts: fn(&Response) -> bool| {
        responses()
            .filter(move |response| counts(response))
            .map(|response| response.ended)
    };
    let mut sales: Vec<Instant> = ends(|response| response.kind == ResponseKind::Sold).collect();
    sales.sort();
    let vain: Vec<Instant> = ends(is_in_vain).collect();
    let asking = asking(responses());
    let mut longest = None;
    for sale in sales {
        // Most times between two sales are shorter than the longest so far, and need not be looked at.
        let may_be_longest = longest < Some(sale.saturating_duration_since(since));
        if may_be_longest && vain.iter().any(|end| since < *end && *end <= sale) {
            longest = longest.max(Some(covered(&asking, since, sale)));
        }
        since = sale;
    }
    longest
}

/// Told busy, or not answered although the buyer waited.
fn is_in_vain(response: &Response) -> bool {
    match response.kind {
        ResponseKind::Busy => true,
        ResponseKind::Unknown => !response.hung_up,
        ResponseKind::Sold | ResponseKind::SoldOut | ResponseKind::Rejected => false,
    }
}

/// From when to when each purchase was asked for, by their beginnings. Who is told busy and comes again keeps asking.
fn asking<'a>(responses: impl Iterator<Item = &'a Response>) -> Vec<(Instant, Instant)> {
    let mut purchases: BTreeMap<&str, (Instant, Instant)> = BTreeMap::new();
    for response in responses {
        let (sent, ended) = purchases
            .entry(&response.key)
            .or_insert((response.sent, response.ended));
        (*sent, *ended) = ((*sent).min(response.sent), (*ended).max(response.ended));
    }
    let mut asking: Vec<_> = purchases.into_values().collect();
    asking.sort();
    asking
}

/// How much of the time from `since` to `until` is covered by `spans`, which are sorted by their beginnings.
fn covered(spans: &[(Instant, Instant)], since: Instant, until: Instant) -> Duration {
    let (mut covered, mut reached) = (Duration::ZERO, since);
    for (begin, end) in spans {
        let (begin, end) = ((*begin).max(reached), (*end).min(until));
        if end > begin {
            covered += end.duration_since(begin);
            reached = end;
        }
    }
    covered
}
