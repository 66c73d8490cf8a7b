//! The answers to a repeat of a purchase that was sold.

use loadtest::shop::response::ResponseKind;

use crate::fixture::{Fixture, check, holds, inconclusive};

#[test]
fn a_shop_that_forgets_a_purchase_is_no_pass() {
    check(
        &[
            inconclusive(
                "told sold out",
                "a repeated purchase did not get its order again, but sold out",
                |s| s.click_again(ResponseKind::SoldOut, None),
            ),
            inconclusive(
                "rejected",
                "a repeated purchase did not get its order again, but a rejection",
                |s| s.click_again(ResponseKind::Rejected, None),
            ),
            inconclusive(
                "busy to the end",
                "a repeated purchase did not get its order again, but busy",
                |s| s.click_again(ResponseKind::Busy, None),
            ),
            inconclusive(
                "the first of two deliveries was answered sold out",
                "a repeated purchase did not get its order again, but sold out",
                |s| {
                    let copy = s.responses.attack.remove(0);
                    s.responses.repeats.push(copy);
                    s.say(0, ResponseKind::SoldOut);
                },
            ),
            holds("busy, and then answered with its order", |s| {
                s.click_again(ResponseKind::Busy, None);
                let response = s.later(0, ResponseKind::Sold, Some("o-0"), 4);
                s.responses.repeats.push(response);
            }),
            holds("busy while the first delivery is in progress", |s| {
                let response = s.response(0, ResponseKind::Busy, None);
                s.responses.repeats.push(response);
            }),
            holds("no answer during the fault", |s| {
                let response = s.response(0, ResponseKind::Unknown, None);
                s.responses.repeats.push(response);
                s.struck();
            }),
            inconclusive(
                "no answer after everything was back",
                "1 request got no clear response, although everything was back",
                |s| {
                    s.struck();
                    s.click_again(ResponseKind::Unknown, None);
                },
            ),
            holds("refused as the first was", |s| {
                let response = s.later(2, ResponseKind::SoldOut, None, 1);
                s.responses.repeats.push(response);
            }),
            inconclusive(
                "another quantity is answered with the first order",
                "a purchase that was sent again with another quantity or buyer was not refused",
                |s| {
                    let mut response = s.later(0, ResponseKind::Sold, Some("o-0"), 1);
                    response.quantity = 2;
                    s.responses.altered.push(response);
                },
            ),
        ],
        Fixture::exact,
    );
}
