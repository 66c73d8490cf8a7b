//! Instances that could not answer for a while: the responses of the buyers have to bear that out.

use std::time::Duration;

use loadtest::audit::{Absence, ExplainedUnknowns};
use loadtest::shop::response::ResponseKind;

use crate::fixture::{Fixture, check, holds, inconclusive, violated};

const SECOND: Duration = Duration::from_secs(1);

/// One instance died a second after the attack, and was back ten seconds later.
fn crashed() -> Fixture {
    let mut fixture = Fixture::exact();
    fixture.struck();
    fixture.explains(ExplainedUnknowns::FromDeadInstance);
    let from = fixture.start + SECOND;
    fixture.expected.absent.push(Absence {
        instance: Some("a".to_owned()),
        from,
        to: from + SECOND * 10,
        is_back: true,
        is_death: true,
    });
    if let Some(loadtest::audit::FaultSeen::Struck { healed, .. }) = &mut fixture.expected.fault {
        *healed = from + SECOND * 10;
    }
    fixture.later_by(22, ResponseKind::Unknown, None, SECOND - Duration::from_millis(5));
    for (place, instance) in [(20, "a"), (21, "b")] {
        fixture.later_by(place, ResponseKind::SoldOut, Some(instance), SECOND * 12);
    }
    fixture
}

/// The same process stood still.
pub fn paused() -> Fixture {
    let mut fixture = crashed();
    fixture.expected.absent[0].is_death = false;
    fixture
        .responses
        .attack
        .retain(|response| response.kind != ResponseKind::Unknown);
    fixture
}

#[test]
fn nobody_answers_from_the_grave() {
    check(
        &[
            holds("nobody answered", |_| {}),
            holds("the survivor answered", |s| {
                s.later_by(3, ResponseKind::SoldOut, Some("b"), SECOND * 3)
            }),
            inconclusive(
                "a nameless answer",
                "a buyer was answered without a name while an instance was dead",
                |s| s.later_by(3, ResponseKind::SoldOut, None, SECOND * 3),
            ),
            holds("a proxy said busy", |s| {
                s.later_by(3, ResponseKind::Busy, None, SECOND * 3)
            }),
            inconclusive(
                "it was never seen to be back, and answered just before the others were done",
                "the instance that was dead answered a buyer meanwhile",
                |s| {
                    s.expected.absent[0].is_back = false;
                    s.later_by(
                        3,
                        ResponseKind::SoldOut,
                        Some("a"),
                        SECOND * 11 - Duration::from_millis(50),
                    );
                },
            ),
            inconclusive(
                "the dead answered",
                "the instance that was dead answered a buyer meanwhile",
                |s| {
                    s.later_by(3, ResponseKind::SoldOut, Some("a"), SECOND * 3);
                },
            ),
            holds("an answer was still on its way", |s| {
                s.later_by(3, ResponseKind::SoldOut, Some("a"), SECOND + Duration::from_millis(100));
            }),
            inconclusive(
                "a nameless one was dead, and both names answered",
                "all instances answered buyers while one of them was dead",
                |s| {
                    s.expected.absent[0].instance = None;
                    s.later_by(3, ResponseKind::SoldOut, Some("a"), SECOND * 3);
                    s.later_by(4, ResponseKind::SoldOut, Some("b"), SECOND * 3);
                },
            ),
            inconclusive(
                "back at once, and yet it answered what it had received before",
                "the instance that was dead answered a buyer meanwhile",
                |s| {
                    s.expected.absent[0].to = s.expected.absent[0].from;
                    s.spanning(3, "a");
                },
            ),
            inconclusive(
                "four were under way, and the survivor answered all of them",
                "every purchase that was under way when an instance died was answered at once",
                |s| (3..7).for_each(|place| s.spanning(place, "b")),
            ),
            holds("four were under way, and one broke off", |s| {
                (3..8).for_each(|place| s.spanning(place, "b"));
                let last = s.responses.attack.last_mut().unwrap();
                (last.kind, last.instance) = (ResponseKind::Unknown, None);
            }),
            holds("back at once, and what it had received before was sent again", |s| {
                s.expected.absent[0].to = s.expected.absent[0].from;
                s.spanning(3, "a");
                s.responses.attack.last_mut().unwrap().sent_again = true;
            }),
        ],
        crashed,
    );
}

#[test]
fn a_process_that_stands_still_answers_nobody_until_it_goes_on() {
    check(
        &[
            holds("nobody answered", |_| {}),
            inconclusive(
                "it answered",
                "the instance that stood still answered a buyer meanwhile",
                |s| {
                    s.later_by(3, ResponseKind::SoldOut, Some("a"), SECOND * 3);
                },
            ),
            inconclusive(
                "it answered a purchase that was sent again only to see which instance answers",
                "the instance that stood still answered a buyer meanwhile",
                |s| {
                    s.later_by(3, ResponseKind::Sold, Some("a"), SECOND * 3);
                    let asked = s.responses.attack.pop().unwrap();
                    s.responses.asked.push(asked);
                },
            ),
            inconclusive(
                "four were under way, and the other one answered all of them at once",
                "every purchase that was sent while an instance stood still was answered at once",
                |s| (3..7).for_each(|place| s.spanning(place, "b")),
            ),
            inconclusive(
                "four were under way, and two more came and were answered right before it went on",
                "every purchase that was sent while an instance stood still was answered at once",
                |s| {
                    (3..7).for_each(|place| s.spanning(place, "b"));
                    for place in 7..9 {
                        s.later_by(
                            place,
                            ResponseKind::Busy,
                            Some("b"),
                            SECOND * 11 - Duration::from_millis(100),
                        );
                    }
                },
            ),
            holds("four were under way, and two of them had to wait", |s| {
                (3..7).for_each(|place| s.spanning(place, "b"));
                for response in s.responses.attack.iter_mut().rev().take(2) {
                    response.ended = s.start + SECOND * 12;
                    response.instance = Some("a".to_owned());
                }
            }),
            holds("it answered what it had received, when it went on", |s| {
                s.later_by(3, ResponseKind::SoldOut, Some("a"), SECOND * 12);
                s.responses.attack.last_mut().unwrap().sent = s.start;
            }),
        ],
        paused,
    );
}

#[test]
fn the_living_have_to_serve_somebody() {
    const UNSERVED: &[(&str, i64)] = &[("unavailable", 4)];
    check(
        &[
            violated("four got no clear answer", UNSERVED, |s| {
                (3..7).for_each(|place| s.later_by(place, ResponseKind::Unknown, None, SECOND * 3));
            }),
            holds("a proxy took its time", |s| {
                (3..6).for_each(|place| s.later_by(place, ResponseKind::Unknown, None, SECOND * 3));
            }),
            holds("one of them was told busy", |s| {
                (3..7).for_each(|place| s.later_by(place, ResponseKind::Unknown, None, SECOND * 3));
                s.later_by(7, ResponseKind::Busy, Some("b"), SECOND * 3);
            }),
            inconclusive(
                "no answer long after its return",
                "1 request got no clear response, and the fault does not explain that",
                |s| {
                    s.expected.absent[0].to = s.expected.absent[0].from + SECOND;
                    s.later_by(3, ResponseKind::Unknown, None, SECOND * 4);
                },
            ),
        ],
        crashed,
    );
}
