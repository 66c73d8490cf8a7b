//! The events of a story in words.

use super::LONGEST;
use super::letter;
use crate::text::one_line;
use crate::trace::{IncidentKind, Story, StoryEvent};

/// Returns the begin of each event, and its end where it has one, with the time in microseconds.
pub(super) fn lines(story: &Story) -> impl Iterator<Item = (i64, String)> {
    story.events.iter().flat_map(|event| {
        let subject = one_line(&event.subject, LONGEST);
        let (begin, end) = begin_and_end(event, &subject);
        let end = event.ended_us.zip(end);
        [(event.began_us, begin)].into_iter().chain(end)
    })
}

fn begin_and_end(event: &StoryEvent, subject: &str) -> (String, Option<String>) {
    let (begin, end) = match event.what {
        IncidentKind::Paused => (
            format!("{subject} is paused (SIGSTOP)"),
            format!("{subject} runs again"),
        ),
        IncidentKind::Blocked => (
            format!("all threads of {subject} are blocked"),
            format!("{subject} runs again"),
        ),
        IncidentKind::Killed => return (format!("{subject} is killed (SIGKILL)"), None),
        IncidentKind::Restarted => (
            format!("{subject} is killed (SIGKILL)"),
            format!("{subject} is back, with the data on its disk"),
        ),
        IncidentKind::RestartedEmpty => (
            format!("{subject} is killed (SIGKILL)"),
            format!("{subject} is back, without its data"),
        ),
        IncidentKind::PowerLost => (
            format!("{subject} loses power"),
            format!("{subject} is back, without what it had not synced"),
        ),
        IncidentKind::CutOff => return (format!("a replica is cut off from {subject}"), None),
        IncidentKind::FailedOver => (
            format!("{subject} is killed (SIGKILL)"),
            format!("the replica serves as {subject}, without the writes since the cut"),
        ),
        IncidentKind::SlotMoved => (
            format!("the item's slot of {subject} begins to move to another node"),
            format!("another node of {subject} serves the slot"),
        ),
        IncidentKind::Evicted => (
            format!("{subject} is at the limit of its memory, and evicts keys"),
            format!("{subject} has room again"),
        ),
        IncidentKind::OutOfMemory => (
            format!("{subject} is at the limit of its memory, and refuses writes"),
            format!("{subject} has room again"),
        ),
        IncidentKind::DiskFull => (
            format!("the disk of {subject} is full"),
            format!("the disk of {subject} has room again"),
        ),
        IncidentKind::HungUp => (
            format!("{subject} ends all its connections"),
            format!("{subject} takes connections again"),
        ),
        IncidentKind::NoConnection => (
            format!("slow purchases of other items keep all SQL connections of {subject}"),
            format!("{subject} has free connections again"),
        ),
        IncidentKind::Silent => (
            format!("{subject}: no message passes in either direction"),
            format!("{subject}: everything arrives again"),
        ),
        IncidentKind::RepliesLost => (
            format!("{subject} carries out commands, and its replies are lost"),
            format!("{subject}: replies arrive again"),
        ),
        IncidentKind::ClockAhead => {
            return (format!("the clocks of {subject} jump ahead by more than a lease"), None);
        }
        IncidentKind::ClockBack => {
            return (format!("the clocks of {subject} step back by more than a lease"), None);
        }
        IncidentKind::Replaced => (
            format!("{subject} is asked to end (SIGTERM)"),
            format!("a new process of {subject} serves"),
        ),
        IncidentKind::LeaseEnded => {
            let holder = event
                .purchase
                .map_or_else(String::new, |place| format!(" of {}", letter(place)));
            return (format!("the lease{holder} has ended, and nobody renewed it"), None);
        }
        IncidentKind::Worked => return (subject.to_owned(), None),
    };
    (begin, Some(end))
}

/// Returns an event as the clause of a sentence: `app-1 was paused from 129 to 3005 ms`.
pub(super) fn clause(event: &StoryEvent) -> String {
    let subject = one_line(&event.subject, LONGEST);
    let ms = |us: i64| us.div_euclid(1_000);
    let from = ms(event.began_us);
    let when = match event.ended_us {
        Some(to) if from < 0 && to >= 0 => format!("until {} ms", ms(to)),
        Some(to) if to >= 0 => format!("from {from} to {} ms", ms(to)),
        None if from >= 0 => format!("at {from} ms"),
        _ => "earlier".to_owned(),
    };
    match event.what {
        IncidentKind::Paused => format!("{subject} was paused {when}"),
        IncidentKind::Blocked => format!("{subject} was blocked {when}"),
        IncidentKind::Killed => format!("{subject} was killed {when}"),
        IncidentKind::Restarted => format!("{subject} was down {when}"),
        IncidentKind::RestartedEmpty => format!("{subject} was down {when}, and lost its data"),
        IncidentKind::PowerLost => format!("{subject} lost power and was down {when}, and lost what it had not synced"),
        IncidentKind::CutOff => format!("a replica was cut off from {subject} {when}"),
        IncidentKind::FailedOver => format!("{subject} was down {when}, until the replica took its place"),
        IncidentKind::SlotMoved => format!("the item's slot of {subject} moved {when}"),
        IncidentKind::Evicted => format!("{subject} evicted keys {when}"),
        IncidentKind::OutOfMemory => format!("{subject} refused writes {when}"),
        IncidentKind::DiskFull => format!("the disk of {subject} was full {when}"),
        IncidentKind::HungUp => format!("{subject} ended all its connections {when}"),
        IncidentKind::NoConnection => format!("{subject} had no free SQL connection {when}"),
        IncidentKind::Silent => format!("nothing arrived at {subject} {when}"),
        IncidentKind::RepliesLost => format!("replies of {subject} were lost {when}"),
        IncidentKind::ClockAhead => format!("the clocks of {subject} jumped ahead {when}"),
        IncidentKind::ClockBack => format!("the clocks of {subject} stepped back {when}"),
        IncidentKind::Replaced => format!("{subject} was replaced {when}"),
        IncidentKind::LeaseEnded => match event.purchase {
            Some(place) => format!("the lease of {} ended {when}", letter(place)),
            None => format!("a lease ended {when}"),
        },
        IncidentKind::Worked => format!("{subject} {when}"),
    }
}
