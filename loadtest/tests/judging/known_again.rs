//! What a purchase that was sold is told when it is sent once more.

use loadtest::answer::Word;

use crate::fixture::{Fixture, check, holds, inconclusive};

#[test]
fn a_shop_that_does_not_know_a_purchase_again_is_no_pass() {
    check(
        &[
            inconclusive(
                "told sold out",
                "a buyer who clicked again was not told of the same order, but that the item is sold out",
                |s| s.click_again(Word::SoldOut, None),
            ),
            inconclusive(
                "told that it is no purchase",
                "a buyer who clicked again was not told of the same order, but that it is no purchase",
                |s| s.click_again(Word::Rejected, None),
            ),
            inconclusive(
                "told to wait to the end",
                "a buyer who clicked again was not told of the same order, but to come again",
                |s| s.click_again(Word::Busy, None),
            ),
            inconclusive(
                "the first of two deliveries was told sold out",
                "a buyer who clicked again was not told of the same order, but that the item is sold out",
                |s| {
                    let copy = s.told.attack.remove(0);
                    s.told.repeats.push(copy);
                    s.say(0, Word::SoldOut);
                },
            ),
            holds("told to wait, and then of its order", |s| {
                s.click_again(Word::Busy, None);
                let answer = s.later(0, Word::Sold, Some("o-0"), 4);
                s.told.repeats.push(answer);
            }),
            holds("told to wait while the first was being carried out", |s| {
                let answer = s.answer(0, Word::Busy, None);
                s.told.repeats.push(answer);
            }),
            holds("no answer, while something was broken on purpose", |s| {
                let answer = s.answer(0, Word::Unknown, None);
                s.told.repeats.push(answer);
                s.struck();
            }),
            inconclusive(
                "no answer, when everything was back",
                "1 answers never came, after everything was back",
                |s| {
                    s.struck();
                    s.click_again(Word::Unknown, None);
                },
            ),
            holds("refused as the first was", |s| {
                let answer = s.later(2, Word::SoldOut, None, 1);
                s.told.repeats.push(answer);
            }),
            inconclusive(
                "another quantity is answered with the first order",
                "a purchase that was sent again with another quantity or buyer was not refused",
                |s| {
                    let mut answer = s.later(0, Word::Sold, Some("o-0"), 1);
                    answer.quantity = 2;
                    s.told.altered.push(answer);
                },
            ),
        ],
        Fixture::exact,
    );
}
