//! Inconclusive rounds that may be played once more.

use std::time::Duration;

use loadtest::audit::{FaultSeen, Verdict};
use loadtest::shop::response::ResponseKind;

use crate::absence::paused;
use crate::fixture::{ANSWER, Fixture, sold_to_one};

/// The name of a cause, whether it is chance, and the way it spoils a round.
type Row = (&'static str, bool, fn(&mut Fixture));

fn missed(fixture: &mut Fixture) {
    fixture.expected.fault = Some(FaultSeen::Missed);
}

fn apart(fixture: &mut Fixture) {
    for (place, response) in (0..).zip(&mut fixture.responses.attack) {
        response.intended += ANSWER * place;
        response.sent = response.intended;
        response.ended = response.sent + ANSWER;
    }
}

#[test]
fn a_round_is_played_again_only_if_every_reason_is_chance() {
    let rows: &[Row] = &[
        ("the fault missed", true, missed),
        ("the fault came at another moment", true, |s| {
            s.struck();
            let Some(FaultSeen::Struck { mistimed, .. }) = &mut s.expected.fault else {
                return;
            };
            *mistimed = Some("the purchase did not hold its lock");
        }),
        ("no two purchases met", true, apart),
        ("an instance was left out", true, |s| {
            s.responses.attack[1].instance = Some("a".to_owned());
        }),
        ("sent late", true, |s| {
            s.responses.attack[1].intended -= Duration::from_millis(501);
        }),
        ("two of these", true, |s| {
            missed(s);
            s.responses.attack[1].instance = Some("a".to_owned());
        }),
        ("nobody had to wait for a process that stood still", true, |s| {
            *s = paused();
            (3..7).for_each(|place| s.spanning(place, "b"));
        }),
        ("a process that stood still answered", false, |s| {
            *s = paused();
            s.later_by(3, ResponseKind::SoldOut, Some("a"), Duration::from_secs(3));
        }),
        ("nothing was sold", false, |s| s.all(ResponseKind::Busy)),
        ("an answer never came", false, |s| s.say(3, ResponseKind::Unknown)),
        ("rejected", false, |s| s.say(3, ResponseKind::Rejected)),
        (
            "one was sold while buyers competed, and the others were busy",
            false,
            sold_to_one,
        ),
        ("a repeat was forgotten", false, |s| {
            s.click_again(ResponseKind::SoldOut, None)
        }),
        ("another quantity was not refused", false, |s| {
            let altered = s.later(0, ResponseKind::Sold, Some("o-0"), 1);
            s.responses.altered.push(altered);
        }),
        ("no buyer was refused", false, |s| drop(s.responses.attack.pop())),
        ("the fault missed, and a repeat was forgotten", false, |s| {
            missed(s);
            s.click_again(ResponseKind::SoldOut, None);
        }),
        ("the fault missed, and an answer never came", false, |s| {
            missed(s);
            s.say(3, ResponseKind::Unknown);
        }),
        ("no two purchases met, and one was rejected", false, |s| {
            apart(s);
            let rejected = s.later(3, ResponseKind::Rejected, None, 9);
            s.responses.attack.push(rejected);
        }),
    ];
    let mut wrong = Vec::new();
    for (name, is_chance, spoil) in rows {
        let mut fixture = Fixture::exact();
        spoil(&mut fixture);
        let judged = fixture.judge();
        if (judged.verdict, judged.is_chance) != (Verdict::Inconclusive, *is_chance) {
            wrong.push(format!("{name}: {judged:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_round_that_is_violated_or_holds_is_never_played_again() {
    let mut violated = Fixture::exact();
    missed(&mut violated);
    violated.facts.stock_left = Some(-1);
    let judged = violated.judge();
    assert_eq!((judged.verdict, judged.is_chance), (Verdict::Violated, false));
    let judged = Fixture::exact().judge();
    assert_eq!((judged.verdict, judged.is_chance), (Verdict::Holds, false));
    let judged = loadtest::audit::judge(&violated.expected, &violated.responses, &[]);
    assert_eq!((judged.verdict, judged.is_chance), (Verdict::Inconclusive, false));
}
