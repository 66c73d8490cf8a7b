//! The longest time in which no buyer could buy, by the responses: the shop is not asked.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::responses::Responses;
use crate::shop::response::{Response, ResponseKind};

/// Returns the longest time between a sale and the next one, or between the start of the attack and the first sale, in
/// which a buyer was told busy or got no response. Only the time counts in which a purchase was pending, from its
/// sending to its last response. Returns `None` where there was no such time.
///
/// The time after the last sale does not count: a round in which no buyer can buy any more is stuck.
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
    let failures: Vec<Instant> = ends(is_failure).collect();
    let pending = pending_spans(responses());
    let mut longest = None;
    for sale in sales {
        // Most times between two sales are shorter than the longest so far and need no further check.
        let may_be_longest = longest < Some(sale.saturating_duration_since(since));
        if may_be_longest && failures.iter().any(|end| since < *end && *end <= sale) {
            longest = longest.max(Some(covered(&pending, since, sale)));
        }
        since = sale;
    }
    longest
}

/// Returns whether a buyer was told busy, or waited and got no response.
fn is_failure(response: &Response) -> bool {
    match response.kind {
        ResponseKind::Busy => true,
        ResponseKind::Unknown => !response.hung_up,
        ResponseKind::Sold | ResponseKind::SoldOut | ResponseKind::Rejected => false,
    }
}

/// Returns the time span of each purchase, sorted by beginning. A buyer that is told busy and retries keeps its span
/// open.
fn pending_spans<'a>(responses: impl Iterator<Item = &'a Response>) -> Vec<(Instant, Instant)> {
    let mut purchases: BTreeMap<&str, (Instant, Instant)> = BTreeMap::new();
    for response in responses {
        let (sent, ended) = purchases
            .entry(&response.key)
            .or_insert((response.sent, response.ended));
        (*sent, *ended) = ((*sent).min(response.sent), (*ended).max(response.ended));
    }
    let mut spans: Vec<_> = purchases.into_values().collect();
    spans.sort();
    spans
}

/// Returns how much of the time from `since` to `until` is covered by `spans`, which are sorted by their beginnings.
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
