//! Findings about the buyers that were sold to, and those that were refused.

use loadtest::shop::response::ResponseKind;

use crate::fixture::{ANSWER, Fixture, check, holds, inconclusive, violated};

#[test]
fn selling_beyond_the_stock_is_found_whatever_the_counter_says() {
    check(
        &[
            violated(
                "lost updates: the counter is zero and was never below",
                &[("oversold", 2), ("drift", -2)],
                |s| {
                    for place in [3, 4] {
                        s.sold(place, Some(&format!("o-{place}")));
                        s.record(place, 1);
                    }
                },
            ),
            violated("sold below zero", &[("oversold", 1)], |s| {
                s.sold(3, Some("o-3"));
                s.record(3, 1);
                s.facts.stock_left = Some(-1);
            }),
            violated("answered, but not recorded", &[("oversold", 1), ("lost", 1)], |s| {
                s.sold(3, Some("o-3"));
            }),
            violated(
                "recorded, but not answered",
                &[("oversold", 1), ("ghost", 1), ("drift", -1)],
                |s| s.record_as("o-3", 1, None, "b-3"),
            ),
            violated(
                "sold to the last buyer, after the stock was gone",
                &[("oversold", 1), ("false_refusal", 1), ("drift", -1)],
                |s| {
                    let response = s.later(9, ResponseKind::Sold, Some("o-9"), 1);
                    s.responses.follow_up.push(response);
                    s.record(9, 1);
                },
            ),
        ],
        Fixture::exact,
    );
}

#[test]
fn refusing_buyers_while_their_units_are_left_is_found() {
    check(
        &[
            violated("one left, one refused", &[("undersold", 1)], |s| {
                s.expected.stock = 3;
                s.facts.stock_left = Some(1);
            }),
            violated("no more than buyers were refused", &[("undersold", 1)], |s| {
                s.expected.stock = 9;
                s.facts.stock_left = Some(7);
            }),
            violated("the last buyer is refused too", &[("undersold", 2)], |s| {
                s.expected.stock = 9;
                s.facts.stock_left = Some(7);
                s.last_buyer(ResponseKind::SoldOut);
            }),
            inconclusive(
                "units are left, but no buyer was refused",
                "the stock never ran out: 7 units were left",
                |s| {
                    s.responses
                        .attack
                        .retain(|response| response.kind == ResponseKind::Sold);
                    s.expected.stock = 9;
                    s.facts.stock_left = Some(7);
                },
            ),
        ],
        Fixture::exact,
    );
    check(
        &[
            violated("one purchase of three fits into five", &[("undersold", 3)], |s| {
                s.expected.stock = 11;
                s.facts.stock_left = Some(5);
            }),
            holds("two units are no purchase of three", |s| {
                s.expected.stock = 8;
                s.facts.stock_left = Some(2);
            }),
        ],
        || Fixture::of(3),
    );
}

#[test]
fn a_sold_out_answer_before_a_later_purchase_that_sold_is_a_false_refusal() {
    /// Buyer 1 comes after buyer 2 was answered sold out.
    fn refused_first(fixture: &mut Fixture) {
        let later = fixture.later(1, ResponseKind::Sold, Some("o-1"), 2);
        fixture.responses.attack[1] = later;
        let met = fixture.response(3, ResponseKind::Busy, None);
        fixture.responses.attack.push(met);
    }
    check(
        &[
            violated("and then sold", &[("false_refusal", 1)], refused_first),
            holds("sent while the refusal was on its way", |s| {
                refused_first(s);
                s.responses.attack[1].sent = s.start + ANSWER;
            }),
            holds("by workers whose clocks may be as far apart", |s| {
                refused_first(s);
                s.responses.apart = ANSWER * 2;
            }),
            holds("sent before, and answered again after", |s| {
                s.click_again(ResponseKind::Sold, Some("o-0"))
            }),
        ],
        Fixture::exact,
    );
}

/// Two units are left, and the follow-up buyers get these answers.
fn left(fixture: &mut Fixture, words: &[ResponseKind]) {
    fixture.responses.attack.pop();
    fixture.expected.stock = 4;
    fixture.facts.stock_left = Some(2);
    for (place, kind) in (9..).zip(words) {
        let response = fixture.later(place, *kind, None, 1);
        fixture.responses.follow_up.push(response);
    }
}

#[test]
fn a_shop_that_sold_and_now_sells_no_more_is_stuck() {
    use ResponseKind::{Busy, Rejected, SoldOut, Unknown};
    check(
        &[
            violated("busy", &[("stuck", 1)], |s| left(s, &[Busy])),
            violated("silent", &[("stuck", 1)], |s| left(s, &[Unknown; 3])),
            violated("rejecting", &[("stuck", 1)], |s| left(s, &[Rejected; 3])),
            violated("busy, silent and rejecting in turn", &[("stuck", 1)], |s| {
                left(s, &[Unknown, Busy, Rejected, Unknown])
            }),
            violated("sold out is undersold, not stuck", &[("undersold", 1)], |s| {
                left(s, &[SoldOut])
            }),
            inconclusive(
                "busy, but nothing is left that it could sell",
                "no buyer was told sold out at the end",
                |s| s.last_buyer(Busy),
            ),
        ],
        Fixture::exact,
    );
}

#[test]
fn a_shop_that_sells_to_some_and_fails_others_is_not_stuck() {
    use ResponseKind::{Sold, Unknown};
    check(
        &[
            inconclusive(
                "two were not answered, and the third was not asked",
                "2 requests got no clear response, although nothing was broken on purpose",
                |s| left(s, &[Unknown; 2]),
            ),
            inconclusive(
                "three were not answered, and another buyer bought between them",
                "3 requests got no clear response, although nothing was broken on purpose",
                |s| {
                    left(s, &[Unknown, Unknown, Sold, Unknown]);
                    s.responses.follow_up[2].order = Some("o-11".to_owned());
                    s.record(11, 1);
                    s.facts.stock_left = Some(1);
                },
            ),
        ],
        Fixture::exact,
    );
}
