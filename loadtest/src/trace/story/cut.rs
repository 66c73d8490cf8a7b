//! The steps of a purchase that a story keeps.

use super::StoryStep;
use crate::trace::purchase::{Step, TracedPurchase};

/// The most steps of a story.
pub(super) const MOST_STEPS: usize = 30;

/// The first steps of a purchase that are kept when it took too many.
const FIRST: usize = 3;

/// Returns the steps that have a role, and the step that never ended. Other steps count only where a purchase has none
/// of these.
pub(super) fn steps_of(purchase: &TracedPurchase) -> impl Iterator<Item = &Step> {
    let matters = |step: &Step| step.role.is_some() || step.end.is_none();
    let none_does = !purchase.steps.iter().any(matters);
    purchase.steps.iter().filter(move |step| none_does || matters(step))
}

/// Returns the steps of the purchase at `place`, timed from `origin_ns`, and the number of steps that are left out.
/// `of` is the number of purchases in the story.
pub(super) fn cut(purchase: &TracedPurchase, place: usize, origin_ns: u64, of: usize) -> (Vec<StoryStep>, usize) {
    let since = |at_ns: u64| at_ns.saturating_sub(origin_ns) / 1_000;
    let mut kept: Vec<StoryStep> = Vec::new();
    for step in steps_of(purchase) {
        let end = step.end.as_ref();
        let (said, ended_us) = (end.map(|end| end.said.clone()), end.map(|end| since(end.at_ns)));
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
            value: end.and_then(|end| end.value),
        });
    }
    let left_out = kept.len().saturating_sub(MOST_STEPS / of.max(1));
    kept.drain(FIRST.min(kept.len())..FIRST.min(kept.len()) + left_out);
    (kept, left_out)
}
