//! The write of a story at which the sale goes wrong.

use super::timeline::{Hold, signed};
use crate::audit::Finding;
use crate::trace::{Role, StepValue, Story, StoryStep};

/// Returns the place of the first write that is wrong: its own purchase had read more than another one has left, it leaves less
/// than nothing, or the lock was lost when it began. A step with which a worker sells units that another purchase has taken
/// counts as a write, too.
pub(super) fn wrong_write(story: &Story, holds: &[Hold]) -> Option<usize> {
    if !matches!(story.shows, Finding::Oversold | Finding::Drift) {
        return None;
    }
    let ended = |step: &StoryStep| step.ended_us.map_or(i64::MAX, signed);
    let of_role = |role: Role| {
        story
            .steps
            .iter()
            .enumerate()
            .filter(move |(_, step)| step.role == Some(role))
    };
    let is_wrong = |write: &StoryStep| {
        let began_us = signed(write.began_us);
        let reads = of_role(Role::Read).map(|(_, step)| step);
        let own = reads.filter(|read| read.purchase == write.purchase && ended(read) <= began_us);
        let read = own.filter_map(|read| Some((ended(read), left(read)?))).max();
        let mut others = of_role(Role::Write).filter(|(_, other)| other.purchase != write.purchase);
        let overwrites = wrote(write).zip(read).is_some_and(|(_, (_, read))| {
            others.any(|(_, other)| ended(other) <= ended(write) && wrote(other).is_some_and(|wrote| wrote < read))
        });
        let is_lost = |hold: &Hold| hold.is_of(write.purchase, began_us) && !hold.is_true(began_us);
        let is_too_much = wrote(write).is_some_and(|left| left < 0);
        overwrites || is_too_much || holds.iter().any(is_lost)
    };
    let late = story
        .sold_late()
        .and_then(|place| Some((place, story.steps.get(place)?)));
    let wrong = of_role(Role::Write).filter(|(_, write)| is_wrong(write)).chain(late);
    wrong.min_by_key(|(_, write)| ended(write)).map(|(place, _)| place)
}

fn left(step: &StoryStep) -> Option<i64> {
    match step.value {
        Some(StepValue::Left(left)) => Some(left),
        _ => None,
    }
}

pub(super) fn wrote(step: &StoryStep) -> Option<i64> {
    match step.value {
        Some(StepValue::Wrote(left)) => Some(left),
        _ => None,
    }
}
