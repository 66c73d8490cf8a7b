//! A purchase that a worker sold although its units had gone to another purchase.

use super::{Story, StoryStep};
use crate::trace::event::Role;
use crate::trace::purchase::TracedPurchase;
use crate::trace::work::{Work, WorkStep};

/// Returns a purchase that a worker sold, and the first purchase of `sold` that had taken the same units before that and after
/// the last step of the first one. Returns nothing where there are no two such purchases.
pub(super) fn ended_late<'a>(work: &Work<'a>, sold: &[&'a TracedPurchase]) -> Vec<&'a TracedPurchase> {
    let sales = work
        .all()
        .filter(|(_, WorkStep { step, .. })| step.end.is_some() && sells(step.role));
    let mut pairs = sales.filter_map(|(purchase, work)| {
        let (_, left) = left_after(purchase)?;
        let meanwhile = purchase.last_ns()..work.step.began_ns;
        let others = sold.iter().filter(|other| other.buyer != purchase.buyer);
        let took = others.filter_map(|other| Some((left_after(other)?, *other)));
        let took = took.filter(|((at_ns, after), _)| *after == left && meanwhile.contains(at_ns));
        let (_, other) = took.min_by_key(|((at_ns, _), _)| *at_ns)?;
        Some(vec![purchase, other])
    });
    pairs.next().unwrap_or_default()
}

impl Story {
    /// Returns the place of the first step with which a worker sold a purchase whose units another purchase had taken by then.
    pub(crate) fn sold_late(&self) -> Option<usize> {
        let is_late = |work: &StoryStep| {
            let taken = self.left_after(work.purchase);
            let mut others = (0..self.purchases.len()).filter(|other| *other != work.purchase);
            taken.is_some_and(|(taken_us, left)| {
                others.any(|other| {
                    let again = self.left_after(other);
                    again.is_some_and(|(at_us, after)| after == left && taken_us <= at_us && at_us <= work.began_us)
                })
            })
        };
        let work = self.steps.iter().enumerate().filter(|(_, step)| !step.is_own());
        let sales = work.filter(|(_, step)| step.ended_us.is_some() && sells(step.role));
        let late = sales.filter(|(_, step)| is_late(step));
        late.min_by_key(|(_, step)| step.ended_us).map(|(place, _)| place)
    }

    /// The same as [`left_after`], for a purchase of a story.
    fn left_after(&self, purchase: usize) -> Option<(u64, i64)> {
        let own = || {
            self.steps
                .iter()
                .filter(move |step| step.purchase == purchase && step.is_own())
        };
        let wrote_us = own().rfind(|step| step.role == Some(Role::Write))?.began_us;
        let mut since = own().filter(|step| step.began_us >= wrote_us);
        since.find_map(|step| Some((step.ended_us?, step.value?.units()?)))
    }
}

/// Returns whether a step of this role writes stock or an order, or makes both durable.
fn sells(role: Option<Role>) -> bool {
    matches!(role, Some(Role::Write | Role::Record | Role::Commit))
}

/// Returns the units that a purchase left when it last wrote, and when it knew that.
fn left_after(purchase: &TracedPurchase) -> Option<(u64, i64)> {
    let wrote_ns = purchase.last(Role::Write)?.began_ns;
    let since = purchase.steps.iter().filter(|step| step.began_ns >= wrote_ns);
    let mut ends = since.filter_map(|step| step.end.as_ref());
    ends.find_map(|end| Some((end.at_ns, end.value?.units()?)))
}
