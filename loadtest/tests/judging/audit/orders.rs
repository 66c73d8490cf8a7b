//! Findings about orders: those that are missing, and those that are in no answer.

use loadtest::shop::response::ResponseKind;

use crate::fixture::{Fixture, Row, check, holds, violated};

#[test]
fn a_sale_without_its_order_is_lost() {
    check(
        &[
            violated("the order was never written", &[("lost", 1), ("drift", 1)], |s| {
                s.unrecord("o-1")
            }),
            violated("the order has another id", &[("lost", 1), ("ghost", 1)], |s| {
                s.unrecord("o-1");
                s.record_as("o-7", 1, Some("k-1"), "b-1");
            }),
            violated("the answer has no id", &[("lost", 1), ("ghost", 1)], |s| {
                s.responses.attack[1].order = None;
            }),
            violated("the id is empty, here and there", &[("lost", 1), ("ghost", 1)], |s| {
                s.responses.attack[1].order = Some(String::new());
                s.facts.orders[1].id = String::new();
            }),
            violated(
                "one order is in the answers to two buyers",
                &[("lost", 1), ("drift", 1)],
                |s| {
                    s.responses.attack[1].order = Some("o-0".to_owned());
                    s.unrecord("o-1");
                },
            ),
            violated("two buyers got each other's order", &[("lost", 2), ("ghost", 2)], |s| {
                s.responses.attack[0].order = Some("o-1".to_owned());
                s.responses.attack[1].order = Some("o-0".to_owned());
            }),
            violated("another buyer's name", &[("lost", 1), ("ghost", 1)], |s| {
                s.facts.orders[1].buyer = Some("b-7".to_owned());
            }),
            violated("no buyer's name", &[("lost", 1), ("ghost", 1)], |s| {
                s.facts.orders[1].buyer = None;
            }),
            violated("another purchase's key", &[("lost", 1), ("ghost", 1)], |s| {
                s.facts.orders[1].key = Some("k-7".to_owned());
            }),
            violated("no key", &[("lost", 1), ("ghost", 1)], |s| {
                s.facts.orders[1].key = None;
            }),
            violated(
                "one row grows and backs every sale",
                &[("lost", 2), ("ghost", 2)],
                |s| {
                    s.responses.attack[1].order = Some("o-0".to_owned());
                    s.unrecord("o-1");
                    s.facts.orders[0].quantity = 2;
                },
            ),
        ],
        Fixture::exact,
    );
    let smaller = violated(
        "fewer units were recorded than answered",
        &[("lost", 3), ("ghost", 1), ("drift", 2)],
        |s| {
            s.unrecord("o-1");
            s.record(1, 1);
        },
    );
    check(&[smaller], || Fixture::of(3));
}

#[test]
fn every_observation_after_the_answer_must_show_the_order() {
    fn seen_without(fixture: &mut Fixture, after: u32, at_rest: bool) {
        let facts = fixture.facts.clone();
        fixture.expected.is_atomic = false;
        fixture.unrecord("o-1");
        fixture.look(after, at_rest);
        fixture.facts = facts;
    }
    fn in_flight(fixture: &mut Fixture) {
        let facts = fixture.facts.clone();
        fixture.facts.stock_left = Some(1);
        fixture.record_as("o-7", 1, None, "nobody");
        fixture.look(1, false);
        fixture.facts = facts;
    }
    check(
        &[
            violated("written a little later", &[("lost", 1)], |s| seen_without(s, 1, false)),
            holds("not yet answered", |s| seen_without(s, 0, false)),
            violated("gone for a while", &[("lost", 1), ("drift", 1)], |s| {
                seen_without(s, 5, true)
            }),
            violated("gone in the end", &[("lost", 1), ("drift", 1)], |s| {
                s.look(5, true);
                s.unrecord("o-1");
            }),
            violated("another name in the end", &[("lost", 1), ("ghost", 1)], |s| {
                s.look(5, true);
                s.facts.orders[0].buyer = Some("b-7".to_owned());
            }),
            violated(
                "an order entered in the end",
                &[("oversold", 1), ("ghost", 1), ("drift", -1)],
                |s| {
                    s.look(5, true);
                    s.record_as("o-7", 1, None, "nobody");
                },
            ),
            violated("a unit taken in the end", &[("drift", 1)], |s| {
                s.look(5, true);
                s.facts.stock_left = Some(-1);
            }),
            violated("the counter gone in the end", &[("unreadable", 1)], |s| {
                s.look(5, true);
                s.facts.stock_left = None;
            }),
            holds("over two stores a purchase in flight need not agree yet", |s| {
                s.expected.is_atomic = false;
                in_flight(s);
            }),
            holds("of an item that is read in parts neither", |s| {
                s.facts.in_parts = true;
                in_flight(s);
            }),
            violated("but in the end it has to", &[("drift", 1)], |s| {
                s.facts.in_parts = true;
                s.look(5, true);
                s.facts.stock_left = Some(-1);
            }),
            violated("in one store both change together", &[("drift", -2)], in_flight),
        ],
        Fixture::exact,
    );
}

#[test]
fn an_order_without_an_answer_is_a_ghost_unless_the_answer_is_missing() {
    /// The answer to buyer 1 becomes `kind`; the order stays.
    fn untold(fixture: &mut Fixture, kind: ResponseKind) {
        fixture.responses.attack.remove(1);
        fixture.say(1, kind);
        fixture.expected.instances = 1;
    }
    check(
        &[
            violated("answered sold out", &[("ghost", 1)], |s| {
                untold(s, ResponseKind::SoldOut)
            }),
            violated("answered busy", &[("ghost", 1)], |s| untold(s, ResponseKind::Busy)),
            violated("rejected", &[("ghost", 1)], |s| untold(s, ResponseKind::Rejected)),
            violated("a key that no buyer sent", &[("ghost", 1)], |s| {
                untold(s, ResponseKind::Unknown);
                s.facts.orders[1].key = Some("k-7".to_owned());
            }),
            violated("another buyer's", &[("ghost", 1)], |s| {
                untold(s, ResponseKind::Unknown);
                s.facts.orders[1].buyer = Some("b-7".to_owned());
            }),
            violated("no key at all", &[("ghost", 1)], |s| {
                untold(s, ResponseKind::Unknown);
                s.facts.orders[1].key = None;
            }),
            violated("an order of minus one does not hide one", &[("ghost", 2)], |s| {
                s.record_as("o-7", 1, None, "nobody");
                s.record_as("o-8", -1, None, "nobody");
            }),
            violated("nor do two rows of one id", &[("ghost", 5)], |s| {
                s.record_as("o-7", 2, None, "nobody");
                s.record_as("o-7", -2, None, "nobody");
                s.record_as("o-8", 0, None, "nobody");
            }),
            violated("an order of nothing is one", &[("ghost", 1)], |s| {
                s.record_as("o-7", 0, None, "nobody");
            }),
            Row {
                explained: 1,
                ..holds("the answer was lost in a crash", |s| {
                    untold(s, ResponseKind::Unknown);
                    s.struck();
                })
            },
            violated(
                "a buyer that was answered sold out in the end has an order",
                &[("ghost", 1)],
                |s| {
                    untold(s, ResponseKind::Unknown);
                    s.struck();
                    let again = s.later(1, ResponseKind::SoldOut, None, 2);
                    s.responses.repeats.push(again);
                },
            ),
            violated(
                "a lost answer explains no more than was bought",
                &[("ghost", 3), ("drift", -2)],
                |s| {
                    untold(s, ResponseKind::Unknown);
                    s.struck();
                    s.expected.stock = 4;
                    s.facts.stock_left = Some(2);
                    s.facts.orders[1].quantity = 3;
                    s.responses
                        .attack
                        .retain(|response| response.kind != ResponseKind::SoldOut);
                },
            ),
        ],
        Fixture::exact,
    );
}

#[test]
fn a_second_order_for_one_key_is_a_duplicate_and_not_a_ghost() {
    check(
        &[
            violated("in no answer", &[("duplicate", 1)], |s| {
                s.expected.stock = 3;
                s.record_as("o-7", 1, Some("k-0"), "b-0");
            }),
            violated("listed before the order of the answer", &[("duplicate", 1)], |s| {
                s.expected.stock = 3;
                s.record_as("o-7", 1, Some("k-0"), "b-0");
                s.facts.orders.rotate_right(1);
            }),
            violated("made by a second click", &[("duplicate", 1)], |s| {
                s.expected.stock = 3;
                s.click_again(ResponseKind::Sold, Some("o-7"));
                s.record_as("o-7", 1, Some("k-0"), "b-0");
            }),
            violated("made by a second click that was refused", &[("duplicate", 1)], |s| {
                s.expected.stock = 3;
                s.click_again(ResponseKind::SoldOut, None);
                s.record_as("o-7", 1, Some("k-0"), "b-0");
            }),
            violated("made by a click with another quantity", &[("duplicate", 2)], |s| {
                s.expected.stock = 4;
                let mut response = s.later(0, ResponseKind::Sold, Some("o-7"), 1);
                response.quantity = 2;
                s.responses.altered.push(response);
                s.record_as("o-7", 2, Some("k-0"), "b-0");
            }),
            violated(
                "a second click is answered with an order that does not exist",
                &[("lost", 1)],
                |s| {
                    s.expected.stock = 3;
                    s.facts.stock_left = Some(1);
                    s.responses
                        .attack
                        .retain(|response| response.kind == ResponseKind::Sold);
                    s.click_again(ResponseKind::Sold, Some("o-7"));
                },
            ),
            holds("a second click is answered with its own order", |s| {
                s.click_again(ResponseKind::Sold, Some("o-0"))
            }),
            holds("and one with another quantity is refused", |s| {
                let response = s.later(0, ResponseKind::Rejected, None, 1);
                s.responses.altered.push(response);
            }),
            violated(
                "beyond the stock",
                &[("oversold", 1), ("duplicate", 1), ("drift", -1)],
                |s| s.record_as("o-7", 1, Some("k-0"), "b-0"),
            ),
        ],
        Fixture::exact,
    );
}
