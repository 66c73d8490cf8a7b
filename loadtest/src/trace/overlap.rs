//! Overlap: two purchases inside at once, each of which believes that it is alone.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::event::Role;
use super::hold_span::HoldSpan;
use super::purchase::TracedPurchase;
use crate::audit::Overlap;

impl Overlap {
    /// Of one sale; `None` where no purchase asked for a lock.
    pub fn of(purchases: &[TracedPurchase]) -> Option<Self> {
        let asks = |purchase: &TracedPurchase| purchase.last(Role::Lock).is_some();
        if !purchases.iter().any(asks) {
            return None;
        }
        let mut holdings: Vec<HoldSpan> = purchases.iter().flat_map(HoldSpan::all).collect();
        holdings.sort_by_key(|holding| holding.from_ns);
        let (mut inside, mut latest) = (BinaryHeap::new(), 0);
        let (mut pairs, mut longest_ns) = (0, 0);
        for HoldSpan { from_ns, until_ns, .. } in holdings {
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
