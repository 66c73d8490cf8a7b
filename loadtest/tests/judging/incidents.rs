//! What a story tells that is no step: faults, leases that ended, and units that are gone.

use std::time::{Duration, Instant};

use loadtest::report;
use loadtest::shop::response::ResponseKind;
use loadtest::trace::{Event, Incident, IncidentKind, PlacedIncident, Role, Story, Trace};
use nix::time::{ClockId, clock_gettime};

use crate::fixture::{ANSWER, Fixture};
use crate::report::{round, run};
use crate::stories::{buyers, events, oversold, responses, story_of, trace, update};

/// An incident at these microseconds.
fn placed(kind: IncidentKind, subject: &str, from_us: u64, to_us: Option<u64>) -> PlacedIncident {
    PlacedIncident {
        kind,
        subject: subject.to_owned(),
        from_ns: from_us * 1_000,
        to_ns: to_us.map(|to| to * 1_000),
    }
}

/// A purchase by the owner-token lock: it takes the lock, reads, writes at `write_at`, and gives the lock back.
fn locked(number: u64, at: u64, write_at: u64, [read, wrote]: [&str; 2]) -> Vec<Event> {
    let steps = [
        (at, at + 10, "set-nx", Role::Lock, "taken"),
        (at + 20, at + 30, "read", Role::Read, read),
        (write_at, write_at + 10, "write", Role::Write, wrote),
        (write_at + 20, write_at + 30, "compare-del", Role::Release, "deleted"),
    ];
    events(number, &steps)
}

/// b-0 is paused for 3 s between reading and writing; b-1 buys meanwhile. Later b-3 and b-4 meet, too.
fn paused() -> (Fixture, Trace) {
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

#[test]
fn a_pause_is_told_by_who_was_paused_and_by_who_went_in_between_with_the_end_of_the_lease() {
    let (control, trace) = paused();
    assert_eq!(
        responses(&control, story_of(&control, &trace).unwrap()),
        "      ms  A: b-0 at app-1                     B: b-1 at app-2
   0.010  set-nx: taken
   0.030  read: left 9
   0.129  -- app-1 is paused (SIGSTOP)
1000.010  -- the lease of A has ended, and nobody renewed it
1100.010                                      set-nx: taken
1100.030                                      read: left 9
1200.010                                      write: wrote 8
1200.030                                      compare-del: deleted
3000.100  -- app-1 runs again
3000.510  write: wrote 8
3000.530  compare-del: deleted
          told sold                           told sold

A read 9; app-1 was paused from 0 to 3000 ms; the lease of A ended at 1000 ms; B
read 9; B wrote 8; A wrote 8: 2 sold, and the stock fell by 1.
"
    );
    let mut elsewhere = trace.clone();
    elsewhere.incidents[0].subject = "app-3".to_owned();
    elsewhere.lease = None;
    let found = story_of(&control, &elsewhere).unwrap();
    assert_eq!(
        buyers(&found),
        ["b-3", "b-4"],
        "nobody here was paused: an ordinary race"
    );
    assert_eq!(found.events, []);
    elsewhere.lease = trace.lease;
    let found = story_of(&control, &elsewhere).unwrap();
    assert_eq!(buyers(&found), ["b-0", "b-1"], "its lease ended, whatever held it up");
}

/// Which events a story has, and when they begin, in microseconds.
fn told(story: &Story) -> Vec<(IncidentKind, i64)> {
    story.events.iter().map(|event| (event.what, event.began_us)).collect()
}

#[test]
fn a_lease_ended_only_where_it_is_certain_that_nobody_renewed_it() {
    let renewals = |spans: &[(u64, Option<u64>)]| {
        let mut all = Vec::new();
        for (began, ended) in spans {
            let mut sides = events(0, &[(*began, ended.unwrap_or(*began), "renew", Role::Renew, "renewed")]);
            sides.truncate(1 + usize::from(ended.is_some()));
            all.extend(sides);
        }
        for event in &mut all {
            event.actor = "renewal".to_owned();
        }
        all
    };
    let second = 1_000_000;
    type Row = (&'static str, Vec<(u64, Option<u64>)>, Option<i64>);
    let table: [Row; 5] = [
        ("nobody renews it", vec![], Some(1_000_010)),
        (
            "it is renewed in time until its holder is paused",
            vec![(300_000, Some(300_100)), (600_000, Some(600_100))],
            Some(1_600_100),
        ),
        (
            "it is renewed when it has ended",
            vec![(2 * second, Some(2 * second + 100))],
            Some(1_000_010),
        ),
        (
            "it is renewed all the time",
            (1..10)
                .map(|turn| (turn * 333_000, Some(turn * 333_000 + 100)))
                .collect(),
            None,
        ),
        ("nobody knows whether it was renewed", vec![(900_000, None)], None),
    ];
    for (name, spans, expected) in table {
        let (control, _) = paused();
        let one = [locked(0, 0, 3_000_500, ["left 9", "wrote 8"]), renewals(&spans)].concat();
        let two = locked(1, 1_700_000, 1_800_000, ["left 9", "wrote 8"]);
        let mut trace = trace(vec![one, two]);
        trace.lease = Some(Duration::from_secs(1));
        let found = story_of(&control, &trace).unwrap();
        let ended = expected.map(|at| (IncidentKind::LeaseEnded, at));
        assert_eq!(told(&found), ended.into_iter().collect::<Vec<_>>(), "{name}");
        assert_eq!(found.steps.len(), 8, "{name}: a renewal is no step of the purchase");
    }
    let (control, mut early) = paused();
    early.incidents.clear();
    early.purchases[0].steps.swap(2, 3);
    let released_ns = early.purchases[0].steps[2].began_ns - 2_999_000_000;
    early.purchases[0].steps[2].began_ns = released_ns;
    let found = story_of(&control, &early).unwrap();
    assert!(told(&found).is_empty(), "it had been given back: {found:?}");
}

/// b-3 and b-4 took a unit each at app-1, which was killed then; b-4 was recorded where `is_recorded`.
fn dead(drift: i64, is_recorded: bool) -> (Fixture, Trace) {
    let mut control = Fixture::exact();
    control.say(3, ResponseKind::Unknown);
    control.say(4, ResponseKind::Unknown);
    if is_recorded {
        control.record(4, 1);
    }
    control.expected.stock = 2 + i64::from(is_recorded) + drift;
    control.struck();
    let take = |number, at, left| events(number, &[(at, at + 10, "take", Role::Write, left)]);
    let mut next_life = take(5, 900, "taken, left 4");
    for event in &mut next_life {
        event.life = "another".to_owned();
    }
    let one = [take(3, 7, "taken, left 6"), take(4, 9, "taken, left 5"), next_life].concat();
    let two = [take(0, 0, "taken, left 8"), take(1, 5, "taken, left 7")].concat();
    let mut trace = trace(vec![one, two]);
    trace.incidents = vec![placed(IncidentKind::Killed, "app-1", 400, None)];
    (control, trace)
}

#[test]
fn units_that_a_dead_instance_took_are_gone_where_the_ledger_has_no_order_of_them() {
    let (control, trace) = dead(1, true);
    let found = story_of(&control, &trace).unwrap();
    assert_eq!(
        responses(&control, found),
        "      ms  A: b-3 at app-1
   0.010  take: taken, left 6
   0.393  -- app-1 is killed (SIGKILL)
   0.393  ends here: its instance was killed
          got no answer

A take: taken, left 6; A ended there: its instance was killed: 1 unit was taken
by app-1, which died before it recorded an order: the unit is gone.
"
    );
    let gone = |drift, is_recorded| {
        let (control, trace) = dead(drift, is_recorded);
        story_of(&control, &trace).unwrap().purchases[0].units_gone
    };
    assert_eq!([gone(1, true), gone(2, false), gone(3, false)], [1, 2, 2]);
    assert_eq!(gone(1, false), 0, "one unit is missing, and nobody knows whose it is");
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
    // A race that came after a loss was not caused by it; a loss between two that read the same was its cause.
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
    // The load test asked before the read was over, and was answered after the write had begun.
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

const KINDS: [IncidentKind; 13] = [
    IncidentKind::Paused,
    IncidentKind::Blocked,
    IncidentKind::Killed,
    IncidentKind::Restarted,
    IncidentKind::RestartedEmpty,
    IncidentKind::CutOff,
    IncidentKind::FailedOver,
    IncidentKind::HungUp,
    IncidentKind::Silent,
    IncidentKind::RepliesLost,
    IncidentKind::ClockAhead,
    IncidentKind::LeaseEnded,
    IncidentKind::Paused,
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
