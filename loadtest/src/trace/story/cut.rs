//! What of a purchase's steps is kept in a story.

use super::StoryStep;
use crate::trace::purchase::{Step, TracedPurchase};

/// The most steps of a story; each has two sides.
const MOST_STEPS: usize = 30;

/// Steps that are kept of the begin of a purchase that took too many.
const FIRST: usize = 3;

/// The steps that matter in any sale, and where a purchase stood still. Pauses and the like only where there are no others.
pub(super) fn steps_of(purchase: &TracedPurchase) -> impl Iterator<Item = &Step> {
    let matters = |step: &Step| step.role.is_some() || step.end.is_none();
    let none_does = !purchase.steps.iter().any(matters);
    purchase.steps.iter().filter(move |step| none_does || matters(step))
}

/// The steps of the purchase at `place` of so many, timed from `origin_ns`, and how many are left out.
pub(super) fn cut(purchase: &TracedPurchase, place: usize, origin_ns: u64, of: usize) -> (Vec<StoryStep>, usize) {
    let since = |at_ns: u64| at_ns.saturating_sub(origin_ns) / 1_000;
    let mut kept: Vec<StoryStep> = Vec::new();
    for step in steps_of(purchase) {
        let (said, ended_us) = match &step.end {
            Some(end) => (Some(end.said.clone()), Some(since(end.at_ns))),
            None => (None, None),
        };
        let same = |last: &&mut StoryStep| last.step == step.name && last.said == said && said.is_some();
        if let Some(last) = kept.last_mut().filter(same) {
            last.times += 1;
            last.ended_us = ended_us;
            continue;
        }
        kept.push(StoryStep {
            purchase: place,
            step: step.name.clone(),
            role: step.role,
            times: 1,
            began_us: since(step.began_ns),
            ended_us,
            said,
        });
    }
    let left_out = kept.len().saturating_sub(MOST_STEPS / of.max(1));
    kept.drain(FIRST.min(kept.len())..FIRST.min(kept.len()) + left_out);
    (kept, left_out)
}
