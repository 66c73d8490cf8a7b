//! The cause that a story names: the pause, the end of a lease, the unit that is gone.

use std::time::Duration;

use loadtest::shop::response::ResponseKind;
use loadtest::trace::{IncidentKind, Role, Trace};

use crate::fixture::Fixture;
use crate::incidents::{locked, paused, placed, told};
use crate::stories::{buyers, events, responses, story_of, trace};

#[test]
fn a_pause_is_told_by_the_paused_purchase_and_one_that_was_carried_out_meanwhile() {
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
    // The response to the first lock came 300 ms late. The second lock shows that the lease had ended by then.
    let (control, mut late) = paused();
    late.purchases[0].steps[0].end.as_mut().unwrap().at_ns += 300_000;
    for (step, at_ns) in [(0, 1_000_200_000), (1, 1_000_220_000)] {
        late.purchases[1].steps[step].began_ns = at_ns;
        late.purchases[1].steps[step].end.as_mut().unwrap().at_ns = at_ns + 10_000;
    }
    late.purchases[0].steps[1].began_ns += 300_000;
    let found = story_of(&control, &late).unwrap();
    assert!(
        told(&found).contains(&(IncidentKind::LeaseEnded, 1_000_209)),
        "{found:?}"
    );
    let (control, mut early) = paused();
    early.incidents.clear();
    early.purchases[0].steps.swap(2, 3);
    let released_ns = early.purchases[0].steps[2].began_ns - 2_999_000_000;
    early.purchases[0].steps[2].began_ns = released_ns;
    let found = story_of(&control, &early).unwrap();
    assert!(told(&found).is_empty(), "it had been given back: {found:?}");
}

/// b-3 and b-4 each took a unit at app-1. Then app-1 was killed. The ledger has the order of b-4 where `is_recorded`.
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
