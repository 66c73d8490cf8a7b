//! Rounds without a finding that are still no pass.

use std::time::Duration;

use loadtest::audit::{ExplainedUnknowns, FaultSeen, Verdict, judge};
use loadtest::responses::Responses;
use loadtest::shop::response::ResponseKind;

use crate::fixture::{ANSWER, Fixture, check, holds, inconclusive, one_after_the_other, sold_to_one, violated};

#[test]
fn a_dead_shop_is_never_a_pass() {
    const DEAD: &str = "nothing was sold";
    check(
        &[
            inconclusive("all busy", DEAD, |s| s.all(ResponseKind::Busy)),
            inconclusive("all silent", DEAD, |s| s.all(ResponseKind::Unknown)),
            inconclusive("all rejected", DEAD, |s| s.all(ResponseKind::Rejected)),
            inconclusive("no buyer came", DEAD, |s| {
                s.all(ResponseKind::Busy);
                s.responses = Responses::default();
            }),
            inconclusive("busy for the last buyer too: dead, not stuck", DEAD, |s| {
                s.all(ResponseKind::Busy);
                s.last_buyer(ResponseKind::Busy);
            }),
            inconclusive("dead since the fault struck", DEAD, |s| {
                s.all(ResponseKind::Unknown);
                s.struck();
            }),
            violated(
                "all answered sold out, and no unit was sold",
                &[("undersold", 2)],
                |s| s.all(ResponseKind::SoldOut),
            ),
        ],
        Fixture::exact,
    );
}

#[test]
fn a_round_that_proves_nothing_is_inconclusive() {
    check(
        &[
            inconclusive("the fault missed", "the fault never struck", |s| {
                s.expected.fault = Some(FaultSeen::Missed);
            }),
            inconclusive("a fault without a proof", "nothing proves that the fault struck", |s| {
                s.expected.fault = Some(FaultSeen::Unproven);
            }),
            inconclusive(
                "a reading failed",
                "1 reading of the ledger failed although nothing was broken",
                |s| s.expected.failed_looks.push(s.start),
            ),
            holds("a reading failed before everything was back", |s| {
                s.expected.failed_looks.push(s.start);
                s.struck();
            }),
            inconclusive(
                "two readings failed afterwards",
                "2 readings of the ledger failed although nothing was broken",
                |s| {
                    s.expected.failed_looks.extend([s.start + ANSWER, s.start + ANSWER]);
                    s.struck();
                },
            ),
            holds("the fault struck", |s| {
                s.say(3, ResponseKind::Unknown);
                s.struck();
            }),
            inconclusive(
                "silence under a fault that explains none",
                "1 request got no clear response, and this fault explains no missing response",
                |s| {
                    s.say(3, ResponseKind::Unknown);
                    s.struck();
                    s.explains(ExplainedUnknowns::Nothing);
                },
            ),
            holds("an instance that died answered no buyer", |s| {
                s.say(3, ResponseKind::Unknown);
                s.struck();
                s.explains(ExplainedUnknowns::FromDeadInstance);
            }),
            inconclusive(
                "an instance failed that did not die",
                "1 request got no clear response, and the fault does not explain that",
                |s| {
                    s.say(3, ResponseKind::Unknown);
                    s.responses.attack.last_mut().unwrap().instance = Some("a".to_owned());
                    s.struck();
                    s.explains(ExplainedUnknowns::FromDeadInstance);
                },
            ),
            inconclusive(
                "a purchase with another quantity got no answer",
                "1 request got no clear response, although nothing was broken on purpose",
                |s| {
                    let response = s.later(0, ResponseKind::Unknown, None, 1);
                    s.responses.altered.push(response);
                },
            ),
            holds("a buyer hung up, which explains that no answer came", |s| {
                s.say(3, ResponseKind::Unknown);
                s.responses.attack.last_mut().unwrap().hung_up = true;
            }),
            inconclusive(
                "a buyer hung up, retried, and got no answer",
                "1 request got no clear response, although nothing was broken on purpose",
                |s| {
                    s.say(3, ResponseKind::Unknown);
                    let again = s.responses.attack.last().unwrap().clone();
                    s.responses.repeats.push(again);
                    s.responses.attack.last_mut().unwrap().hung_up = true;
                },
            ),
            inconclusive(
                "an instance stayed dead",
                "only 1 of 2 instances sold anything or said sold out",
                |s| {
                    let healed = s.start + ANSWER * 2;
                    s.expected.fault = Some(FaultSeen::Struck {
                        healed,
                        explains: ExplainedUnknowns::All,
                        mistimed: None,
                    });
                    let after = s.later(4, ResponseKind::SoldOut, None, 3);
                    s.responses.attack.push(after);
                },
            ),
            inconclusive(
                "silence without a fault",
                "1 request got no clear response, although nothing was broken on purpose",
                |s| s.say(3, ResponseKind::Unknown),
            ),
            inconclusive("rejected", "1 valid purchase was rejected", |s| {
                s.say(3, ResponseKind::Rejected);
            }),
            holds("busy is an answer", |s| s.say(3, ResponseKind::Busy)),
            inconclusive(
                "sold to follow-up buyers alone, and to no buyer before",
                "no sale overlapped with another purchase",
                |s| {
                    let sold = s
                        .responses
                        .attack
                        .extract_if(.., |response| response.kind == ResponseKind::Sold);
                    let sold: Vec<_> = sold.collect();
                    s.responses.follow_up.extend(sold);
                    s.last_buyer(ResponseKind::SoldOut);
                    s.responses.attack.clear();
                    s.say(2, ResponseKind::Busy);
                },
            ),
            inconclusive(
                "one unit was sold, and the rest to follow-up buyers",
                "only 1 purchase was sold while buyers competed",
                sold_to_one,
            ),
            inconclusive(
                "one after the other",
                "no sale overlapped with another purchase",
                one_after_the_other,
            ),
            inconclusive("one purchase in all", "no sale overlapped with another purchase", |s| {
                s.responses.attack.truncate(1);
                s.unrecord("o-1");
                s.expected.stock = 1;
            }),
            inconclusive(
                "only buyers that bought nothing met",
                "no sale overlapped with another purchase",
                |s| {
                    one_after_the_other(s);
                    for place in [3, 4] {
                        let response = s.later(place, ResponseKind::SoldOut, None, 7);
                        s.responses.attack.push(response);
                    }
                },
            ),
            holds("one after the other, as planned", |s| {
                one_after_the_other(s);
                s.expected.contended = false;
            }),
            inconclusive(
                "one instance sold it all",
                "only 1 of 2 instances sold anything or said sold out",
                |s| {
                    s.responses.attack[1].instance = Some("a".to_owned());
                },
            ),
            inconclusive(
                "one instance was busy for every buyer",
                "only 1 of 2 instances sold anything or said sold out",
                |s| {
                    s.responses.attack[1].instance = Some("a".to_owned());
                    s.say(3, ResponseKind::Busy);
                    s.responses.attack.last_mut().unwrap().instance = Some("b".to_owned());
                },
            ),
            holds("one instance was busy for every buyer, and sold to the retries", |s| {
                s.responses.attack[1].instance = Some("a".to_owned());
                s.say(3, ResponseKind::Busy);
                s.last_buyer(ResponseKind::SoldOut);
                let instance = Some("b".to_owned());
                s.responses.attack.last_mut().unwrap().instance.clone_from(&instance);
                s.responses.follow_up.last_mut().unwrap().instance = instance;
            }),
            inconclusive(
                "instances without names",
                "only 0 of 2 instances sold anything or said sold out",
                |s| {
                    s.responses
                        .attack
                        .iter_mut()
                        .for_each(|response| response.instance = None);
                },
            ),
            inconclusive(
                "no buyer was refused, so the demand was not above the stock",
                "no buyer was told sold out at the end",
                |s| drop(s.responses.attack.pop()),
            ),
            holds("only the last buyer was refused", |s| {
                s.responses.attack.pop();
                s.last_buyer(ResponseKind::SoldOut);
            }),
            inconclusive("sent late", "1 purchase was sent more than 500ms late", |s| {
                s.responses
                    .attack
                    .retain(|response| response.kind == ResponseKind::Sold);
                s.last_buyer(ResponseKind::SoldOut);
                let response = &mut s.responses.attack[1];
                response.intended -= Duration::from_millis(501);
            }),
            holds("sent just in time", |s| {
                s.responses.attack[1].intended -= Duration::from_millis(500);
            }),
        ],
        Fixture::exact,
    );
}

#[test]
fn a_violation_counts_more_than_any_reason_to_doubt_the_round() {
    check(
        &[
            violated("the fault missed", &[("drift", 1)], |s| {
                s.facts.stock_left = Some(-1);
                s.expected.fault = Some(FaultSeen::Missed);
            }),
            violated("silence without a fault", &[("drift", 1)], |s| {
                s.facts.stock_left = Some(-1);
                s.say(3, ResponseKind::Unknown);
            }),
            violated("nothing was sold, but something is gone", &[("drift", 1)], |s| {
                s.all(ResponseKind::Busy);
                s.facts.stock_left = Some(1);
            }),
        ],
        Fixture::exact,
    );
}

#[test]
fn a_round_without_an_observation_at_rest_is_inconclusive() {
    let fixture = Fixture::exact();
    let judged = judge(&fixture.expected, &fixture.responses, &[]);
    assert_eq!(judged.verdict, Verdict::Inconclusive);
    assert_eq!(
        judged.inconclusive.as_deref(),
        Some("the stores were never read after the sale was over")
    );
}
