//! The first ledger: what buyers were told.

pub mod busy;
pub mod latency;

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use crate::responses::latency::Latency;
use crate::shop::response::{Response, ResponseKind};

/// Everything buyers were told in one round. Its size is bounded by the plan's number of requests.
#[derive(Clone, Debug, Default)]
pub struct Responses {
    /// The attack's, one per purchase, in no order.
    pub attack: Vec<Response>,
    /// Given after the attack to buyers who came one at a time, in the order of their coming. Who was told busy came
    /// again with the same key.
    pub follow_up: Vec<Response>,
    /// Given to purchases that were sent once more, unchanged: during the attack, after it, and at the end of the run.
    pub repeats: Vec<Response>,
    /// Given to purchases that were sent once more with another quantity or buyer, which has to be refused.
    pub altered: Vec<Response>,
    /// By how much the times of two answers may be apart that different workers heard: none knows the others' clocks.
    pub apart: Duration,
}

/// One purchase with all that it was answered.
#[derive(Clone, Debug)]
pub struct PurchaseOutcome<'a> {
    /// Its idempotency key.
    pub key: &'a str,
    /// Who made it.
    pub buyer: &'a str,
    /// When its first delivery was sent.
    pub sent: Instant,
    /// What came of it: sold if any delivery was, else unknown if any was, and so on.
    pub kind: ResponseKind,
    /// When it was first told sold out.
    pub refused: Option<Instant>,
    /// Whether a delivery got no answer though its buyer waited for one.
    pub unanswered: bool,
}

impl Responses {
    /// Every answer to an unchanged purchase.
    pub fn all(&self) -> impl Iterator<Item = &Response> + Clone {
        self.attack.iter().chain(&self.follow_up).chain(&self.repeats)
    }

    /// The purchases, each once however often it was sent, in no order.
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

    /// How many purchases ended with `word`.
    pub fn count(&self, kind: ResponseKind) -> usize {
        self.purchases().iter().filter(|purchase| purchase.kind == kind).count()
    }

    /// Whether a purchase of the attack whose answer `counts` was in flight at the same time as another one.
    pub fn met(&self, counts: impl Fn(ResponseKind) -> bool) -> bool {
        let mut spans: Vec<_> = self.attack.iter().collect();
        spans.sort_by_key(|response| response.sent);
        // Of those sent before: the one that ends last, and the one that counts and ends last.
        let (mut last, mut last_that_counts): (Option<Instant>, Option<Instant>) = (None, None);
        for response in spans {
            let does_count = counts(response.kind);
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

/// From the first intended start to the last sale.
pub fn selling_time<'a>(responses: impl Iterator<Item = &'a Response> + Clone) -> Option<Duration> {
    let first = responses.clone().map(|response| response.intended).min()?;
    let sales = responses.filter(|response| response.kind == ResponseKind::Sold);
    let last = sales.map(|response| response.ended).max()?;
    Some(last.duration_since(first))
}

/// Latency of each word that was said: they are never pooled.
pub fn latency_us<'a>(responses: impl Iterator<Item = &'a Response> + Clone) -> BTreeMap<ResponseKind, Latency> {
    let of = |kind| {
        let responses = responses.clone().filter(move |response| response.kind == kind);
        Latency::of(responses.map(Response::latency))
    };
    let all = ResponseKind::ALL.into_iter().map(|kind| (kind, of(kind)));
    all.filter(|(_, latency)| latency.n > 0).collect()
}

/// Which of two answers to one purchase says more about what came of it.
fn weight(kind: ResponseKind) -> u8 {
    match kind {
        ResponseKind::Busy => 0,
        ResponseKind::SoldOut => 1,
        ResponseKind::Rejected => 2,
        ResponseKind::Unknown => 3,
        ResponseKind::Sold => 4,
    }
}
