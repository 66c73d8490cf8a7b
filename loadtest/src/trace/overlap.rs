//! Overlap: two purchases that held one lock at the same time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::event::Role;
use super::hold_span::HoldSpan;
use super::purchase::TracedPurchase;
use crate::audit::Overlap;

impl Overlap {
    /// Returns the overlap of one sale; `None` where no purchase asked for a lock.
    pub fn of(purchases: &[TracedPurchase]) -> Option<Self> {
        let asks = |purchase: &TracedPurchase| purchase.last(Role::Lock).is_some();
        if !purchases.iter().any(asks) {
            return None;
        }
        let mut spans: Vec<HoldSpan> = purchases.iter().flat_map(HoldSpan::all).collect();
        spans.sort_by_key(|span| span.from_ns);
        let (mut inside, mut latest) = (BinaryHeap::new(), 0);
        let (mut pairs, mut longest_ns) = (0, 0);
        for HoldSpan { from_ns, until_ns, .. } in spans {
            while inside.peek().is_some_and(|Reverse(until)| *until <= from_ns) {
                inside.pop();
            }
            if until_ns <= from_ns {
                continue;
            }
            pairs += inside.len() as u64;
            if !inside.is_empty() {
                longest_ns = longest_ns.max(until_ns.min(latest) - from_ns);
            }
            inside.push(Reverse(until_ns));
            latest = latest.max(until_ns);
        }
        Some(Self {
            pairs,
            longest_us: longest_ns / 1_000,
        })
    }
}
