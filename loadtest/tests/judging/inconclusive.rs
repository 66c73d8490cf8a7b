//! When nothing is wrong and the round is no pass all the same.

use std::time::Duration;

use loadtest::answer::Word;
use loadtest::audit::{Excuses, FaultSeen, Verdict, judge};
use loadtest::told::Told;

use crate::fixture::{ANSWER, Fixture, check, holds, inconclusive, violated};

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
                s.struck();
            }),
            violated("all told sold out over a full shelf", &[("undersold", 2)], |s| {
                s.all(Word::SoldOut)
            }),
        ],
        Fixture::exact,
    );
}

#[test]
fn a_round_that_was_no_test_is_inconclusive() {
    check(
        &[
            inconclusive("the fault missed", "the fault never struck", |s| {
                s.expected.fault = Some(FaultSeen::Missed);
            }),
            holds("the fault struck", |s| {
                s.say(3, Word::Unknown);
                s.struck();
            }),
            inconclusive(
                "silence under a fault that explains none",
                "1 answers never came, though what was broken explains none of that",
                |s| {
                    s.say(3, Word::Unknown);
                    s.struck();
                    s.excuses(Excuses::Nothing);
                },
            ),
            holds("an instance that died answered nobody", |s| {
                s.say(3, Word::Unknown);
                s.struck();
                s.excuses(Excuses::Silence);
            }),
            inconclusive(
                "an instance failed that did not die",
                "1 answers never came, though what was broken does not explain that",
                |s| {
                    s.say(3, Word::Unknown);
                    s.told.attack.last_mut().unwrap().instance = Some("a".to_owned());
                    s.struck();
                    s.excuses(Excuses::Silence);
                },
            ),
            inconclusive(
                "a purchase with another quantity got no answer",
                "1 answers never came, though nothing was broken on purpose",
                |s| {
                    let answer = s.later(0, Word::Unknown, None, 1);
                    s.told.altered.push(answer);
                },
            ),
            holds("a buyer hung up, which explains that no answer came", |s| {
                s.say(3, Word::Unknown);
                s.told.attack.last_mut().unwrap().hung_up = true;
            }),
            inconclusive(
                "a buyer hung up, came again, and got no answer",
                "1 answers never came, though nothing was broken on purpose",
                |s| {
                    s.say(3, Word::Unknown);
                    let again = s.told.attack.last().unwrap().clone();
                    s.told.repeats.push(again);
                    s.told.attack.last_mut().unwrap().hung_up = true;
                },
            ),
            inconclusive(
                "an instance stayed dead",
                "only 1 of 2 instances ever sold or were sold out",
                |s| {
                    let healed = s.start + ANSWER * 2;
                    s.expected.fault = Some(FaultSeen::Struck {
                        healed,
                        excuses: Excuses::Ignorance,
                    });
                    let after = s.later(4, Word::SoldOut, None, 3);
                    s.told.attack.push(after);
                },
            ),
            inconclusive(
                "silence without a fault",
                "1 answers never came, though nothing was broken on purpose",
                |s| s.say(3, Word::Unknown),
            ),
            inconclusive("rejected", "1 purchases were rejected as if they were none", |s| {
                s.say(3, Word::Rejected);
            }),
            holds("busy is an answer", |s| s.say(3, Word::Busy)),
            inconclusive(
                "sold to who came alone, and to nobody before",
                "no two purchases ever met",
                |s| {
                    let sold = s.told.attack.extract_if(.., |answer| answer.word == Word::Sold);
                    let sold: Vec<_> = sold.collect();
                    s.told.follow_up.extend(sold);
                    s.last_buyer(Word::SoldOut);
                    s.told.attack.clear();
                    s.say(2, Word::Busy);
                },
            ),
            inconclusive(
                "one unit was sold, and the rest to who came alone",
                "only 1 purchases were sold while buyers competed",
                |s| {
                    let sold = s.told.attack.remove(0);
                    s.told.follow_up.push(sold);
                    s.last_buyer(Word::SoldOut);
                    s.told.attack.retain(|answer| answer.word == Word::Sold);
                    s.say(2, Word::Busy);
                },
            ),
            inconclusive("one after the other", "no two purchases ever met", one_after_the_other),
            inconclusive("one purchase in all", "no two purchases ever met", |s| {
                s.told.attack.truncate(1);
                s.unrecord("o-1");
                s.expected.stock = 1;
            }),
            inconclusive("only those met who bought nothing", "no two purchases ever met", |s| {
                one_after_the_other(s);
                for place in [3, 4] {
                    let answer = s.later(place, Word::SoldOut, None, 7);
                    s.told.attack.push(answer);
                }
            }),
            holds("one after the other, as planned", |s| {
                one_after_the_other(s);
                s.expected.contended = false;
            }),
            inconclusive(
                "one instance sold it all",
                "only 1 of 2 instances ever sold or were sold out",
                |s| {
                    s.told.attack[1].instance = Some("a".to_owned());
                },
            ),
            inconclusive(
                "one instance told everybody to come again",
                "only 1 of 2 instances ever sold or were sold out",
                |s| {
                    s.told.attack[1].instance = Some("a".to_owned());
                    s.say(3, Word::Busy);
                    s.told.attack.last_mut().unwrap().instance = Some("b".to_owned());
                },
            ),
            holds("one instance told everybody to come again, and sold to who came", |s| {
                s.told.attack[1].instance = Some("a".to_owned());
                s.say(3, Word::Busy);
                s.last_buyer(Word::SoldOut);
                let instance = Some("b".to_owned());
                s.told.attack.last_mut().unwrap().instance.clone_from(&instance);
                s.told.follow_up.last_mut().unwrap().instance = instance;
            }),
            inconclusive(
                "instances without names",
                "only 0 of 2 instances ever sold or were sold out",
                |s| {
                    s.told.attack.iter_mut().for_each(|answer| answer.instance = None);
                },
            ),
            inconclusive(
                "nobody was refused, so nobody wanted more than there was",
                "nobody was told in the end that the item is sold out",
                |s| drop(s.told.attack.pop()),
            ),
            holds("nobody was refused but who came last", |s| {
                s.told.attack.pop();
                s.last_buyer(Word::SoldOut);
            }),
            inconclusive("sent late", "1 purchases were sent more than 500ms late", |s| {
                s.told.attack.retain(|answer| answer.word == Word::Sold);
                s.last_buyer(Word::SoldOut);
                let answer = &mut s.told.attack[1];
                answer.intended -= Duration::from_millis(501);
            }),
            holds("sent just in time", |s| {
                s.told.attack[1].intended -= Duration::from_millis(500);
            }),
        ],
        Fixture::exact,
    );
}

#[test]
fn a_violation_wins_over_every_reason_to_doubt_the_round() {
    check(
        &[
            violated("the fault missed", &[("drift", 1)], |s| {
                s.facts.stock_left = Some(-1);
                s.expected.fault = Some(FaultSeen::Missed);
            }),
            violated("silence without a fault", &[("drift", 1)], |s| {
                s.facts.stock_left = Some(-1);
                s.say(3, Word::Unknown);
            }),
            violated("nothing was sold, but something is gone", &[("drift", 1)], |s| {
                s.all(Word::Busy);
                s.facts.stock_left = Some(1);
            }),
        ],
        Fixture::exact,
    );
}

#[test]
fn a_round_whose_ledger_was_never_seen_is_no_test() {
    let fixture = Fixture::exact();
    let judged = judge(&fixture.expected, &fixture.told, &[]);
    assert_eq!(judged.verdict, Verdict::Inconclusive);
    assert_eq!(
        judged.inconclusive.as_deref(),
        Some("the ledgers were never seen at rest")
    );
}

fn one_after_the_other(fixture: &mut Fixture) {
    for (place, answer) in (0..).zip(&mut fixture.told.attack) {
        answer.intended += ANSWER * place;
        answer.sent = answer.intended;
        answer.ended = answer.sent + ANSWER;
    }
}
