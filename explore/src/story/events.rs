//! The choices of a schedule that are no steps, as events of a story.

use loadtest::trace::{IncidentKind, Role, StepValue, StoryEvent};

use super::{STEP, instance};
use crate::choice::Choice;
use crate::schedule::Schedule;
use crate::workers::RENEWAL;

/// Returns whether that arrival has the lock before this choice.
pub(super) fn is_holder(schedule: &Schedule, number: u64, arrival: usize) -> bool {
    let before = schedule.lines.iter().zip(1..).take_while(|(_, other)| *other < number);
    let own = before
        .filter(|(line, _)| line.choice.step() == Some(arrival))
        .map(|(line, _)| line);
    let changes = own.filter_map(|line| match (line.role, line.value) {
        (Some(Role::Lock), Some(StepValue::Taken(true) | StepValue::Fence(_))) => Some(true),
        (Some(Role::Release), _) => Some(false),
        _ => None,
    });
    changes.last().unwrap_or_default()
}

/// Returns whether the lease of that arrival was renewed during this choice.
pub(super) fn is_renewed(schedule: &Schedule, number: u64, arrival: usize) -> bool {
    let instance = schedule.arrivals().instance(arrival);
    let mut work = schedule.work.iter();
    work.any(|work| work.worker == RENEWAL && work.after as u64 == number && work.instance == instance)
}

/// Returns the events of a choice that is no step. The lease of each of these holders ends apart.
pub(super) fn events(schedule: &Schedule, choice: Choice, number: u64, holders: Vec<usize>) -> Vec<StoryEvent> {
    let at_us = i64::try_from(number * STEP).unwrap_or(i64::MAX);
    let event = |what, subject: String, purchase, lasts: bool| StoryEvent {
        what,
        subject,
        purchase,
        began_us: at_us,
        ended_us: lasts.then_some(at_us),
    };
    match choice {
        Choice::Step(_)
        | Choice::LostReply(_)
        | Choice::LateRequest(_)
        | Choice::Arrival(_)
        | Choice::Repeat(_)
        | Choice::WorkerWakes(_) => Vec::new(),
        // Of the steps of workers after a choice, the one that was chosen is the first. One that concerns a purchase is a step of it.
        Choice::Work(_) => {
            let mut work = schedule.work.iter();
            let chosen = work.find(|work| work.after as u64 == number);
            let other = chosen.filter(|work| work.arrival.is_none());
            let words = other.map(|work| work.in_words(schedule.arrivals()));
            let taken = words.map(|words| event(IncidentKind::Worked, words, None, false));
            taken.into_iter().collect()
        }
        Choice::LeaseEnds if holders.is_empty() => vec![event(IncidentKind::LeaseEnded, String::new(), None, false)],
        // The lock ends, as with a lease.
        Choice::LeaseEnds | Choice::SlowHolder | Choice::SessionEnds => {
            let ended = holders
                .into_iter()
                .map(|place| event(IncidentKind::LeaseEnded, String::new(), Some(place), false));
            ended.collect()
        }
        Choice::Crash(arrival) => vec![event(IncidentKind::Killed, instance(schedule, arrival), None, false)],
        Choice::RedisEmpties => vec![event(IncidentKind::RestartedEmpty, "Redis".to_owned(), None, true)],
        Choice::RedisFailsOver => vec![event(IncidentKind::FailedOver, "Redis".to_owned(), None, true)],
    }
}
