//! Purchases that went on after the end of their lease.

use std::time::Duration;

use super::event::Role;
use super::hold_span::HoldSpan;
use super::purchase::{Step, Trace, TracedPurchase};

/// A lease that ended while its holder was between two steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outlived {
    /// The time by which the lease had ended, in nanoseconds: one lease after the end of the step that took or renewed
    /// the lock, or just before another purchase took the lock if that was earlier.
    pub(super) ended_ns: u64,
    /// The begin of the holder's next read or write, in nanoseconds.
    pub(super) acts_ns: u64,
}

impl Outlived {
    /// Returns the first such lease of this purchase. Returns `None` where that is not certain: a renewal without a
    /// response may have been carried out.
    pub(super) fn of(purchase: &TracedPurchase, trace: &Trace) -> Option<Self> {
        let lease = trace.lease?;
        let spans = HoldSpan::all(purchase);
        let (mut outlived, soonest_ns) = spans.iter().find_map(|span| Self::within(span, purchase, lease))?;
        let others = trace.purchases.iter().filter(|other| other.order != purchase.order);
        let taken = others.flat_map(HoldSpan::all).map(|span| span.from_ns);
        let taken = taken.filter(|at_ns| (soonest_ns..=outlived.ended_ns).contains(at_ns));
        if let Some(at_ns) = taken.min() {
            outlived.ended_ns = at_ns.saturating_sub(1_000).max(soonest_ns);
        }
        Some(outlived)
    }

    /// Returns the same by the steps of this purchase alone, and the soonest end of the lease.
    fn within(span: &HoldSpan, purchase: &TracedPurchase, lease: Duration) -> Option<(Self, u64)> {
        let lease_ns = u64::try_from(lease.as_nanos()).ok()?;
        let is_inside = |step: &&Step| (span.from_ns..=span.until_ns).contains(&step.began_ns);
        let steps = || purchase.steps.iter().filter(is_inside);
        let acts = |step: &&Step| matches!(step.role, Some(Role::Read | Role::Write | Role::Record | Role::Commit));
        // A separate command may set the lease after the lock is taken.
        let taken_ns = steps().take_while(|step| !acts(step)).map(Step::last_ns).max();
        let asked = purchase.steps.iter().rfind(|step| step.last_ns() == span.from_ns);
        let mut soonest_ns = asked.map_or(span.from_ns, |step| step.began_ns).checked_add(lease_ns)?;
        let mut ended_ns = taken_ns.unwrap_or(span.from_ns).checked_add(lease_ns)?;
        for renewal in purchase.renewals.iter().filter(|step| step.began_ns >= span.from_ns) {
            if renewal.began_ns < ended_ns {
                ended_ns = ended_ns.max(renewal.end.as_ref()?.at_ns.checked_add(lease_ns)?);
                soonest_ns = soonest_ns.max(renewal.began_ns.checked_add(lease_ns)?);
            }
        }
        let acts_ns = steps()
            .filter(acts)
            .map(|step| step.began_ns)
            .find(|at_ns| *at_ns > ended_ns)?;
        Some((Self { ended_ns, acts_ns }, soonest_ns))
    }
}
