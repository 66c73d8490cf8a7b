//! The events of a story that are no steps: their choice, their times and their number.

use std::time::{Duration, Instant};

use loadtest::report;
use loadtest::trace::{Event, Incident, IncidentKind, PlacedIncident, Role, Story, Trace};
use nix::time::{ClockId, clock_gettime};

use crate::fixture::{ANSWER, Fixture};
use crate::report::{round, run};
use crate::stories::{events, oversold, responses, story_of, trace, update};

/// An incident at these microseconds.
pub fn placed(kind: IncidentKind, subject: &str, from_us: u64, to_us: Option<u64>) -> PlacedIncident {
    PlacedIncident {
        kind,
        subject: subject.to_owned(),
        from_ns: from_us * 1_000,
        to_ns: to_us.map(|to| to * 1_000),
    }
}

/// A purchase by the owner-token lock: it takes the lock, reads, writes at `write_at`, and gives the lock back.
pub fn locked(number: u64, at: u64, write_at: u64, [read, wrote]: [&str; 2]) -> Vec<Event> {
    let steps = [
        (at, at + 10, "set-nx", Role::Lock, "taken"),
        (at + 20, at + 30, "read", Role::Read, read),
        (write_at, write_at + 10, "write", Role::Write, wrote),
        (write_at + 20, write_at + 30, "compare-del", Role::Release, "deleted"),
    ];
    events(number, &steps)
}

/// b-0 is paused for 3 s between reading and writing; b-1 buys meanwhile. Later b-3 and b-4 meet, too.
pub fn paused() -> (Fixture, Trace) {
    let mut control = oversold();
    for place in [3, 4] {
        control.sold(place, Some(&format!("o-{place}")));
        control.record(place, 1);
    }
    let one = [
        locked(0, 0, 3_000_500, ["left 9", "wrote 8"]),
        update(3, 4_000_000, "left 8", "wrote 7"),
    ];
    let two = [
        locked(1, 1_100_000, 1_200_000, ["left 9", "wrote 8"]),
        update(4, 4_000_005, "left 8", "wrote 7"),
    ];
    let mut trace = trace(vec![one.concat(), two.concat()]);
    trace.incidents = vec![placed(IncidentKind::Paused, "app-1", 129, Some(3_000_100))];
    trace.lease = Some(Duration::from_secs(1));
    (control, trace)
}

/// The events of a story, each with its begin in microseconds.
pub fn told(story: &Story) -> Vec<(IncidentKind, i64)> {
    story.events.iter().map(|event| (event.what, event.began_us)).collect()
}

#[test]
fn an_event_is_told_where_it_met_these_purchases_and_a_loss_for_as_long_as_it_lasts() {
    let (control, mut trace) = paused();
    let at = |kind, from, to| placed(kind, "Redis", from, to);
    let later = 10_000_000;
    let all = [
        (at(IncidentKind::Silent, 0, Some(100)), true),
        (at(IncidentKind::HungUp, later, Some(later + 1)), false),
        (at(IncidentKind::RestartedEmpty, later, Some(later + 1)), false),
        (at(IncidentKind::ClockAhead, 5, None), true),
    ];
    for (incident, is_told) in all {
        trace.incidents = vec![incident.clone()];
        let found = story_of(&control, &trace).unwrap();
        let has = told(&found).iter().any(|(kind, _)| *kind == incident.kind);
        assert_eq!(has, is_told, "{incident:?}");
    }
    // A loss before a race is not its cause. A loss between two equal reads is.
    for purchase in &mut trace.purchases {
        for step in &mut purchase.steps {
            step.began_ns += 50_000_000;
            step.end.as_mut().unwrap().at_ns += 50_000_000;
        }
    }
    trace.lease = None;
    let cut = at(IncidentKind::CutOff, 2, None);
    trace.incidents = vec![cut.clone()];
    assert_eq!(story_of(&control, &trace).unwrap().events, []);
    trace.incidents = vec![cut, at(IncidentKind::FailedOver, 4_050_001, Some(later))];
    let expected = vec![(IncidentKind::CutOff, -4_049_998), (IncidentKind::FailedOver, 1)];
    assert_eq!(told(&story_of(&control, &trace).unwrap()), expected);
}

#[test]
fn an_order_that_is_lost_after_its_purchase_was_over_is_told_with_the_loss() {
    let mut control = Fixture::exact();
    control.unrecord("o-1");
    control.facts.stock_left = Some(1);
    let mut trace = trace(vec![
        update(0, 0, "left 2", "wrote 1"),
        update(1, 5_000, "left 1", "wrote 0"),
    ]);
    trace.incidents = vec![placed(IncidentKind::RestartedEmpty, "Redis", 90_000, Some(95_000))];
    assert_eq!(
        responses(&control, story_of(&control, &trace).unwrap()),
        "      ms  A: b-1 at app-2
   0.010  read: left 1
   1.010  write: wrote 0
  85.000  -- Redis is killed (SIGKILL)
  90.000  -- Redis is back, without its data
          told sold

A read 1; A wrote 0; Redis was down from 85 to 90 ms, and lost its data: told
sold, and no order of it is in the ledger.
"
    );
}

#[test]
fn an_incident_is_placed_between_the_steps_that_leave_room_for_it_and_by_no_other_clock() {
    let mut control = oversold();
    let start = Instant::now();
    let start_us = Duration::from(clock_gettime(ClockId::CLOCK_MONOTONIC).unwrap()).as_micros() as u64;
    for response in &mut control.responses.attack {
        response.sent = start - ANSWER;
        response.ended = start + Duration::from_secs(4);
    }
    // The load test asked for the pause before the end of the read, and saw its end after the begin of the write.
    let pause = Incident {
        kind: IncidentKind::Paused,
        subject: "app-1".to_owned(),
        from: start + Duration::from_micros(5),
        to: Some(start + Duration::from_micros(3_009_000)),
    };
    let placed_at = |start_us: u64| {
        let held = locked(0, start_us, start_us + 3_000_500, ["left 9", "wrote 8"]);
        let mut trace = trace(vec![held, update(1, start_us + 100, "left 9", "wrote 8")]);
        trace.place(std::slice::from_ref(&pause), &control.responses);
        let spans = trace.incidents.iter();
        let spans = spans.map(|pause| {
            (
                pause.from_ns / 1_000 - start_us,
                pause.to_ns.unwrap() / 1_000 - start_us,
            )
        });
        spans.collect::<Vec<_>>()
    };
    assert_eq!(placed_at(start_us), [(31, 3_000_500)]);
    assert_eq!(
        placed_at(start_us + 3_600_000_000),
        [],
        "a host that was started an hour before"
    );
}

const KINDS: [IncidentKind; 18] = [
    IncidentKind::Paused,
    IncidentKind::Blocked,
    IncidentKind::Killed,
    IncidentKind::Restarted,
    IncidentKind::RestartedEmpty,
    IncidentKind::PowerLost,
    IncidentKind::CutOff,
    IncidentKind::FailedOver,
    IncidentKind::SlotMoved,
    IncidentKind::Evicted,
    IncidentKind::OutOfMemory,
    IncidentKind::DiskFull,
    IncidentKind::HungUp,
    IncidentKind::NoConnection,
    IncidentKind::Silent,
    IncidentKind::RepliesLost,
    IncidentKind::ClockAhead,
    IncidentKind::LeaseEnded,
];

#[test]
fn events_are_bounded_and_a_strangers_names_in_them_move_no_cursor() {
    let (control, mut trace) = paused();
    let evil = "\u{1b}[2J\u{202e}\n## x ".repeat(40);
    let all = KINDS.into_iter().zip(100..);
    trace.incidents = all
        .map(|(kind, at)| placed(kind, &evil, at, Some(at + 2_000_000)))
        .collect();
    let found = story_of(&control, &trace).unwrap();
    assert_eq!(found.events.len(), 12);
    let mut forged = round("some@redis", "crowd", 2);
    (forged.verdict, forged.story) = (loadtest::audit::Verdict::Violated, Some(found));
    let text = report::stories(&run(vec![forged]));
    let is_plain = |c: char| c == '\n' || c == ' ' || c.is_ascii_graphic();
    assert!(text.chars().all(is_plain), "{text}");
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
}

#[test]
fn a_story_without_events_is_written_and_read_as_before() {
    let (control, mut trace) = paused();
    (trace.incidents, trace.lease) = (Vec::new(), None);
    let old = story_of(&control, &trace).unwrap();
    let json = serde_json::to_value(&old).unwrap();
    assert_eq!(
        (json.get("events"), json["purchases"][0].get("units_gone")),
        (None, None)
    );
    assert_eq!(serde_json::from_value::<Story>(json).unwrap(), old);
}
