//! Which rounds that were no test may be played once more.

use std::time::Duration;

use loadtest::answer::Word;
use loadtest::audit::{FaultSeen, Verdict};

use crate::fixture::{ANSWER, Fixture};

/// What spoils a round, how, and whether that is chance.
type Row = (&'static str, bool, fn(&mut Fixture));

fn missed(fixture: &mut Fixture) {
    fixture.expected.fault = Some(FaultSeen::Missed);
}

fn apart(fixture: &mut Fixture) {
    for (place, answer) in (0..).zip(&mut fixture.told.attack) {
        answer.intended += ANSWER * place;
        answer.sent = answer.intended;
        answer.ended = answer.sent + ANSWER;
    }
}

#[test]
fn a_round_is_played_once_more_only_if_nothing_that_the_shop_did_is_among_the_reasons() {
    let rows: &[Row] = &[
        ("the fault missed", true, missed),
        ("nobody met", true, apart),
        ("an instance was left out", true, |s| {
            s.told.attack[1].instance = Some("a".to_owned());
        }),
        ("sent late", true, |s| {
            s.told.attack[1].intended -= Duration::from_millis(501);
        }),
        ("two of these", true, |s| {
            missed(s);
            s.told.attack[1].instance = Some("a".to_owned());
        }),
        ("nothing was sold", false, |s| s.all(Word::Busy)),
        ("an answer never came", false, |s| s.say(3, Word::Unknown)),
        ("rejected", false, |s| s.say(3, Word::Rejected)),
        (
            "one was sold while buyers competed, and the others were told to wait",
            false,
            |s| {
                let sold = s.told.attack.remove(0);
                s.told.follow_up.push(sold);
                s.last_buyer(Word::SoldOut);
                s.told.attack.retain(|answer| answer.word == Word::Sold);
                s.say(2, Word::Busy);
            },
        ),
        ("a repeat was forgotten", false, |s| s.click_again(Word::SoldOut, None)),
        ("another quantity was not refused", false, |s| {
            let altered = s.later(0, Word::Sold, Some("o-0"), 1);
            s.told.altered.push(altered);
        }),
        ("nobody was refused", false, |s| drop(s.told.attack.pop())),
        ("the fault missed, and a repeat was forgotten", false, |s| {
            missed(s);
            s.click_again(Word::SoldOut, None);
        }),
        ("the fault missed, and an answer never came", false, |s| {
            missed(s);
            s.say(3, Word::Unknown);
        }),
        ("nobody met, and somebody was rejected", false, |s| {
            apart(s);
            let rejected = s.later(3, Word::Rejected, None, 9);
            s.told.attack.push(rejected);
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
fn a_round_that_is_violated_or_holds_is_never_played_once_more() {
    let mut violated = Fixture::exact();
    missed(&mut violated);
    violated.facts.stock_left = Some(-1);
    let judged = violated.judge();
    assert_eq!((judged.verdict, judged.is_chance), (Verdict::Violated, false));
    let judged = Fixture::exact().judge();
    assert_eq!((judged.verdict, judged.is_chance), (Verdict::Holds, false));
    let judged = loadtest::audit::judge(&violated.expected, &violated.told, &[]);
    assert_eq!((judged.verdict, judged.is_chance), (Verdict::Inconclusive, false));
}
