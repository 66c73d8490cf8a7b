//! The steps of a purchase that a story keeps.

use super::{StoryStep, StoryWorker};
use crate::trace::purchase::{Step, TracedPurchase};
use crate::trace::value::StepValue;
use crate::trace::work::{Work, WorkStep};

/// The most steps of a story.
pub(super) const MOST_STEPS: usize = 30;

/// The most steps of workers in a story, of all its steps.
const MOST_WORK: usize = 9;

/// The first steps of a purchase that are kept when it took too many.
const FIRST: usize = 3;

/// Returns the steps that have a role or tell how many units are left, and the step that never ended. Other steps count
/// only where a purchase has none of these.
pub(super) fn steps_of(purchase: &TracedPurchase) -> impl Iterator<Item = &Step> {
    let tells_stock = |step: &Step| {
        let value = step.end.as_ref().and_then(|end| end.value);
        value.and_then(StepValue::units).is_some()
    };
    let matters = move |step: &Step| step.role.is_some() || tells_stock(step) || step.end.is_none();
    let none_does = !purchase.steps.iter().any(matters);
    purchase.steps.iter().filter(move |step| none_does || matters(step))
}

/// Returns the steps of the purchase at `place`, timed from `origin_ns`, and the number of steps that are left out. At
/// most `most` are kept.
pub(super) fn cut(purchase: &TracedPurchase, place: usize, origin_ns: u64, most: usize) -> (Vec<StoryStep>, usize) {
    let mut kept: Vec<StoryStep> = Vec::new();
    for step in steps_of(purchase) {
        push(&mut kept, story_step(step, place, origin_ns));
    }
    let left_out = kept.len().saturating_sub(most);
    kept.drain(FIRST.min(kept.len())..FIRST.min(kept.len()) + left_out);
    (kept, left_out)
}

/// Returns the last steps that workers took for these purchases. The last ones tell how the purchases ended.
pub(super) fn work_for(chosen: &[&TracedPurchase], work: &Work<'_>, origin_ns: u64) -> Vec<StoryStep> {
    let most = MOST_WORK / chosen.len().max(1);
    let of_each = chosen.iter().enumerate().flat_map(|(place, purchase)| {
        let mut kept = Vec::new();
        for WorkStep { instance, worker, step } in work.concerning(purchase) {
            let worker = StoryWorker {
                name: worker.clone(),
                instance: instance.clone(),
            };
            push(
                &mut kept,
                StoryStep {
                    worker: Some(worker),
                    ..story_step(step, place, origin_ns)
                },
            );
        }
        kept.sort_by_key(|step| step.began_us);
        kept.drain(..kept.len().saturating_sub(most));
        kept
    });
    of_each.collect()
}

fn story_step(step: &Step, place: usize, origin_ns: u64) -> StoryStep {
    let since = |at_ns: u64| at_ns.saturating_sub(origin_ns) / 1_000;
    let end = step.end.as_ref();
    StoryStep {
        purchase: place,
        worker: None,
        step: step.name.clone(),
        role: step.role,
        times: 1,
        began_us: since(step.began_ns),
        ended_us: end.map(|end| since(end.at_ns)),
        said: end.map(|end| end.said.clone()),
        value: end.and_then(|end| end.value),
    }
}

/// Adds a step, or counts it where the step before was the same.
fn push(kept: &mut Vec<StoryStep>, step: StoryStep) {
    let is_same = |last: &&mut StoryStep| {
        last.said.is_some() && (&last.worker, &last.step, &last.said) == (&step.worker, &step.step, &step.said)
    };
    match kept.last_mut().filter(is_same) {
        Some(last) => {
            last.times += 1;
            last.ended_us = step.ended_us;
        }
        None => kept.push(step),
    }
}
