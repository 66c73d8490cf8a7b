//! When nothing is wrong and the round is no pass all the same.

use std::time::Duration;

use loadtest::audit::FaultSeen;
use loadtest::told::{Told, Word};

use crate::scene::{ANSWER, Scene, check, holds, inconclusive, violated};

#[test]
fn a_dead_shop_is_never_a_pass() {
    const DEAD: &str = "nothing was sold";
    check(
        &[
            inconclusive("all busy", DEAD, |s| s.all(Word::Busy)),
            inconclusive("all silent", DEAD, |s| s.all(Word::Unknown)),
            inconclusive("all rejected", DEAD, |s| s.all(Word::Rejected)),
            inconclusive("nobody came", DEAD, |s| {
                s.all(Word::Busy);
                s.told = Told::default();
            }),
            inconclusive("busy for the last buyer too: dead, not stuck", DEAD, |s| {
                s.all(Word::Busy);
                s.last_buyer(Word::Busy);
            }),
            inconclusive("dead since the fault struck", DEAD, |s| {
                s.all(Word::Unknown);
                s.stake.fault = Some(FaultSeen::Struck);
            }),
            violated("all told sold out over a full shelf", &[("undersold", 2)], |s| {
                s.all(Word::SoldOut)
            }),
        ],
        Scene::exact,
    );
}

#[test]
fn a_round_that_was_no_test_is_inconclusive() {
    check(
        &[
            inconclusive("the fault missed", "the fault never struck", |s| {
                s.stake.fault = Some(FaultSeen::Missed);
            }),
            holds("the fault struck", |s| {
                s.stake.fault = Some(FaultSeen::Struck);
                s.say(3, Word::Unknown);
            }),
            inconclusive(
                "silence without a fault",
                "1 answers never came, though nothing was broken on purpose",
                |s| s.say(3, Word::Unknown),
            ),
            inconclusive("rejected", "1 purchases were rejected as if they were none", |s| {
                s.say(3, Word::Rejected);
            }),
            holds("busy is an answer", |s| s.say(3, Word::Busy)),
            inconclusive("one after the other", "no two purchases ever met", one_after_the_other),
            holds("one after the other, as planned", |s| {
                one_after_the_other(s);
                s.stake.contended = false;
            }),
            inconclusive("one instance sold it all", "only 1 of 2 instances ever answered", |s| {
                s.told.answers[1].instance = Some("a".to_owned());
            }),
            inconclusive("instances without names", "only 0 of 2 instances ever answered", |s| {
                s.told.answers.iter_mut().for_each(|answer| answer.instance = None);
            }),
            inconclusive("sent late", "1 purchases were sent more than 500ms late", |s| {
                let answer = &mut s.told.answers[2];
                answer.sent += Duration::from_millis(501);
                answer.ended = answer.sent + ANSWER;
            }),
            holds("sent just in time", |s| {
                let answer = &mut s.told.answers[2];
                answer.sent += Duration::from_millis(500);
                answer.ended = answer.sent + ANSWER;
            }),
            inconclusive(
                "a second click is told sold out",
                "a buyer who clicked again was not told of the same order",
                |s| s.click_again(Word::SoldOut, None, 1),
            ),
            inconclusive(
                "a second click is told of another order",
                "a buyer who clicked again was not told of the same order",
                |s| s.click_again(Word::Sold, Some("o-7"), 1),
            ),
        ],
        Scene::exact,
    );
}

#[test]
fn a_violation_wins_over_every_reason_to_doubt_the_round() {
    check(
        &[
            violated("the fault missed", &[("drift", 1)], |s| {
                s.facts.stock_left = -1;
                s.stake.fault = Some(FaultSeen::Missed);
            }),
            violated("silence without a fault", &[("drift", 1)], |s| {
                s.facts.stock_left = -1;
                s.say(3, Word::Unknown);
            }),
            violated("nothing was sold, but something is gone", &[("drift", 1)], |s| {
                s.all(Word::Busy);
                s.facts.stock_left = 1;
            }),
        ],
        Scene::exact,
    );
}

fn one_after_the_other(scene: &mut Scene) {
    for (place, answer) in (0..).zip(&mut scene.told.answers) {
        answer.intended += ANSWER * place;
        answer.sent = answer.intended;
        answer.ended = answer.sent + ANSWER;
    }
}
