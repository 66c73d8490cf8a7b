//! What the judge finds about the orders: those that are missing, and those that nobody was told of.

use loadtest::shop::response::ResponseKind;

use crate::fixture::{Fixture, Row, check, holds, violated};

#[test]
fn a_sale_that_no_order_stands_for_is_lost() {
    check(
        &[
            violated("the order was never written", &[("lost", 1), ("drift", 1)], |s| {
                s.unrecord("o-1")
            }),
            violated("the order has another id", &[("lost", 1), ("ghost", 1)], |s| {
                s.unrecord("o-1");
                s.record_as("o-7", 1, Some("k-1"), "b-1");
            }),
            violated("the buyer was told no id", &[("lost", 1), ("ghost", 1)], |s| {
                s.responses.attack[1].order = None;
            }),
            violated("the id is empty, here and there", &[("lost", 1), ("ghost", 1)], |s| {
                s.responses.attack[1].order = Some(String::new());
                s.facts.orders[1].id = String::new();
            }),
            violated("one order was told to two buyers", &[("lost", 1), ("drift", 1)], |s| {
                s.responses.attack[1].order = Some("o-0".to_owned());
                s.unrecord("o-1");
            }),
            violated("two buyers were told each other's", &[("lost", 2), ("ghost", 2)], |s| {
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
            violated("one row grows and backs everybody", &[("lost", 2), ("ghost", 2)], |s| {
                s.responses.attack[1].order = Some("o-0".to_owned());
                s.unrecord("o-1");
                s.facts.orders[0].quantity = 2;
            }),
        ],
        Fixture::exact,
    );
    let smaller = violated(
        "fewer units were recorded than told",
        &[("lost", 3), ("ghost", 1), ("drift", 2)],
        |s| {
            s.unrecord("o-1");
            s.record(1, 1);
        },
    );
    check(&[smaller], || Fixture::of(3));
}

#[test]
fn an_order_has_to_be_there_at_every_look_after_it_was_told() {
    fn seen_without(fixture: &mut Fixture, after: u32, at_rest: bool) {
        let facts = fixture.facts.clone();
        fixture.unrecord("o-1");
        fixture.look(after, at_rest);
        fixture.facts = facts;
    }
    check(
        &[
            violated("written a little later", &[("lost", 1)], |s| seen_without(s, 1, false)),
            holds("not yet told", |s| seen_without(s, 0, false)),
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
            holds("what is in flight need not agree yet", |s| {
                let facts = s.facts.clone();
                s.facts.stock_left = Some(1);
                s.record_as("o-7", 1, None, "nobody");
                s.look(1, false);
                s.facts = facts;
            }),
        ],
        Fixture::exact,
    );
}

#[test]
fn an_order_that_nobody_was_told_of_is_a_ghost_unless_an_answer_is_missing() {
    /// Buyer 1's answer became `word`; the order is still there.
    fn untold(fixture: &mut Fixture, kind: ResponseKind) {
        fixture.responses.attack.remove(1);
        fixture.say(1, kind);
        fixture.expected.instances = 1;
    }
    check(
        &[
            violated("told sold out", &[("ghost", 1)], |s| untold(s, ResponseKind::SoldOut)),
            violated("told busy", &[("ghost", 1)], |s| untold(s, ResponseKind::Busy)),
            violated("told that it was no purchase", &[("ghost", 1)], |s| {
                untold(s, ResponseKind::Rejected)
            }),
            violated("nobody's key", &[("ghost", 1)], |s| {
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
                "who was told sold out in the end has an order all the same",
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
fn a_second_order_for_one_key_is_a_duplicate_and_no_ghost() {
    check(
        &[
            violated("nobody was told of it", &[("duplicate", 1)], |s| {
                s.expected.stock = 3;
                s.record_as("o-7", 1, Some("k-0"), "b-0");
            }),
            violated("listed before the one that was told", &[("duplicate", 1)], |s| {
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
                "a second click is told of an order that is not there",
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
            holds("a second click is told of its own order", |s| {
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
