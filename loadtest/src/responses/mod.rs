//! All responses to the buyers.

pub mod busy;
pub mod latency;

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use crate::responses::latency::Latency;
use crate::shop::response::{Response, ResponseKind};

/// All responses of one round. The plan's number of requests bounds their number.
#[derive(Clone, Debug, Default)]
pub struct Responses {
    /// Responses of the attack, one per purchase, in no order.
    pub attack: Vec<Response>,
    /// Responses after the attack to buyers that came one at a time, in their order. A buyer that was told busy came
    /// again with the same key.
    pub follow_up: Vec<Response>,
    /// Responses to purchases that were sent once more, unchanged: during the attack, after it, and at the end of the
    /// run.
    pub repeats: Vec<Response>,
    /// Responses to purchases that were sent once more with another quantity or buyer. The shop has to refuse these.
    pub altered: Vec<Response>,
    /// Responses to sold purchases that were sent again during a fault, only to see by which name they are answered.
    pub asked: Vec<Response>,
    /// The largest difference between the clocks of two workers, by which the times of two responses may be wrong.
    pub apart: Duration,
}

/// One purchase with all its responses.
#[derive(Clone, Debug)]
pub struct PurchaseOutcome<'a> {
    /// Its idempotency key.
    pub key: &'a str,
    /// The buyer.
    pub buyer: &'a str,
    /// When its first delivery was sent.
    pub sent: Instant,
    /// Its outcome: sold if any delivery was sold, else unknown if any was, and so on.
    pub kind: ResponseKind,
    /// When it was told sold out for the first time.
    pub refused: Option<Instant>,
    /// Whether a delivery got no response although its buyer waited.
    pub unanswered: bool,
}

impl Responses {
    /// Returns every response to an unchanged purchase.
    pub fn all(&self) -> impl Iterator<Item = &Response> + Clone {
        self.attack.iter().chain(&self.follow_up).chain(&self.repeats)
    }

    /// Returns the purchases, each once however often it was sent, in no order.
    pub fn purchases(&self) -> Vec<PurchaseOutcome<'_>> {
        let mut purchases: HashMap<&str, PurchaseOutcome<'_>> = HashMap::new();
        for response in self.all() {
            let refused = (response.kind == ResponseKind::SoldOut).then_some(response.ended);
            let purchase = purchases.entry(&response.key).or_insert(PurchaseOutcome {
                key: &response.key,
                buyer: &response.buyer,
                sent: response.sent,
                kind: response.kind,
                refused,
                unanswered: false,
            });
            purchase.unanswered |= response.kind == ResponseKind::Unknown && !response.hung_up;
            purchase.sent = purchase.sent.min(response.sent);
            purchase.kind = std::cmp::max_by_key(purchase.kind, response.kind, |kind| weight(*kind));
            purchase.refused = [purchase.refused, refused].into_iter().flatten().min();
        }
        purchases.into_values().collect()
    }

    /// Returns how many purchases had this outcome.
    pub fn count(&self, kind: ResponseKind) -> usize {
        self.purchases().iter().filter(|purchase| purchase.kind == kind).count()
    }

    /// Returns whether a purchase of the attack whose response `counts` was in flight at the same time as another one.
    pub fn overlapped(&self, counts: impl Fn(&Response) -> bool) -> bool {
        let mut spans: Vec<_> = self.attack.iter().collect();
        spans.sort_by_key(|response| response.sent);
        // Of the purchases sent before: the latest end, and the latest end of those that count.
        let (mut last, mut last_that_counts): (Option<Instant>, Option<Instant>) = (None, None);
        for response in spans {
            let does_count = counts(response);
            let reaches = |end: Option<Instant>| end.is_some_and(|end| end > response.sent);
            if reaches(last_that_counts) || does_count && reaches(last) {
                return true;
            }
            last = last.max(Some(response.ended));
            if does_count {
                last_that_counts = last_that_counts.max(Some(response.ended));
            }
        }
        false
    }
}

/// Returns the time from the first intended start to the last sale.
pub fn selling_time<'a>(responses: impl Iterator<Item = &'a Response> + Clone) -> Option<Duration> {
    let first = responses.clone().map(|response| response.intended).min()?;
    let sales = responses.filter(|response| response.kind == ResponseKind::Sold);
    let last = sales.map(|response| response.ended).max()?;
    Some(last.duration_since(first))
}

/// Returns the latency of each kind of response: they are never pooled.
pub fn latency_us<'a>(responses: impl Iterator<Item = &'a Response> + Clone) -> BTreeMap<ResponseKind, Latency> {
    let of = |kind| {
        let responses = responses.clone().filter(move |response| response.kind == kind);
        Latency::of(responses.map(Response::latency))
    };
    let all = ResponseKind::ALL.into_iter().map(|kind| (kind, of(kind)));
    all.filter(|(_, latency)| latency.n > 0).collect()
}

/// Returns how much a response says about the outcome of its purchase.
fn weight(kind: ResponseKind) -> u8 {
    match kind {
        ResponseKind::Busy => 0,
        ResponseKind::SoldOut => 1,
        ResponseKind::Rejected => 2,
        ResponseKind::Unknown => 3,
        ResponseKind::Sold => 4,
    }
}
