//! What the judge finds.

use loadtest::audit::{FaultSeen, Verdict};
use loadtest::told::Word;

use crate::scene::{Row, Scene, check, holds, violated};

#[test]
fn a_round_in_which_all_ledgers_agree_holds_and_counts_its_units() {
    let judged = Scene::of(3).judge();
    assert_eq!(judged.verdict, Verdict::Holds);
    assert_eq!(judged.findings.named(), []);
    assert_eq!((judged.recorded, judged.explained), (6, 0));
    assert_eq!(judged.inconclusive, None);
}

#[test]
fn selling_beyond_the_stock_is_found_whatever_the_counter_says() {
    check(
        &[
            violated(
                "lost updates: the counter stands at zero and was never below",
                &[("oversold", 2), ("drift", -2)],
                |s| {
                    for place in [3, 4] {
                        s.sold(place, Some(&format!("o-{place}")));
                        s.record(&format!("o-{place}"), 1, Some(&format!("k-{place}")));
                    }
                },
            ),
            violated("sold below zero", &[("oversold", 1)], |s| {
                s.sold(3, Some("o-3"));
                s.record("o-3", 1, Some("k-3"));
                s.facts.stock_left = -1;
            }),
            violated("told, but not recorded", &[("oversold", 1), ("lost", 1)], |s| {
                s.sold(3, Some("o-3"));
            }),
            violated(
                "recorded, but not told",
                &[("oversold", 1), ("ghost", 1), ("drift", -1)],
                |s| {
                    s.record("o-3", 1, None);
                },
            ),
            violated(
                "sold to the last buyer, after the stock was gone",
                &[("oversold", 1), ("drift", -1)],
                |s| {
                    s.told.last_buyer = Some(s.answer(9, Word::Sold, Some("o-9")));
                    s.record("o-9", 1, Some("k-9"));
                },
            ),
        ],
        Scene::exact,
    );
}

#[test]
fn refusing_buyers_while_their_units_are_left_is_found() {
    check(
        &[
            violated("one left, one refused", &[("undersold", 1)], |s| {
                s.stake.stock = 3;
                s.facts.stock_left = 1;
            }),
            violated("no more than buyers were refused", &[("undersold", 1)], |s| {
                s.stake.stock = 9;
                s.facts.stock_left = 7;
            }),
            violated("the last buyer is refused too", &[("undersold", 2)], |s| {
                s.stake.stock = 9;
                s.facts.stock_left = 7;
                s.last_buyer(Word::SoldOut);
            }),
            holds("units are left, but nobody was refused", |s| {
                s.told.answers.retain(|answer| answer.word == Word::Sold);
                s.stake.stock = 9;
                s.facts.stock_left = 7;
            }),
        ],
        Scene::exact,
    );
    check(
        &[
            violated("one purchase of three fits into five", &[("undersold", 3)], |s| {
                s.stake.stock = 11;
                s.facts.stock_left = 5;
            }),
            holds("two units are no purchase of three", |s| {
                s.stake.stock = 8;
                s.facts.stock_left = 2;
            }),
        ],
        || Scene::of(3),
    );
}

#[test]
fn a_sale_that_no_order_stands_for_is_lost() {
    check(
        &[
            violated("the order was never written", &[("lost", 1), ("drift", 1)], |s| {
                s.unrecord("o-1")
            }),
            violated("the order has another id", &[("lost", 1), ("ghost", 1)], |s| {
                s.unrecord("o-1");
                s.record("o-7", 1, Some("k-1"));
            }),
            violated("the buyer was told no id", &[("lost", 1), ("ghost", 1)], |s| {
                s.told.answers[1].order = None;
            }),
            violated("one order was told to two buyers", &[("lost", 1), ("drift", 1)], |s| {
                s.told.answers[1].order = Some("o-0".to_owned());
                s.unrecord("o-1");
            }),
        ],
        Scene::exact,
    );
    let smaller = violated(
        "fewer units were recorded than told",
        &[("lost", 2), ("drift", 2)],
        |s| {
            s.unrecord("o-1");
            s.record("o-1", 1, Some("k-1"));
        },
    );
    check(&[smaller], || Scene::of(3));
}

#[test]
fn an_order_that_nobody_was_told_of_is_a_ghost_unless_an_answer_is_missing() {
    /// Buyer 1's answer became `word`; the order is still there.
    fn untold(scene: &mut Scene, word: Word) {
        scene.told.answers.remove(1);
        scene.say(1, word);
        scene.stake.instances = 1;
    }
    check(
        &[
            violated("told sold out", &[("ghost", 1)], |s| untold(s, Word::SoldOut)),
            violated("told busy", &[("ghost", 1)], |s| untold(s, Word::Busy)),
            violated("told that it was no purchase", &[("ghost", 1)], |s| {
                untold(s, Word::Rejected)
            }),
            violated("nobody's key", &[("ghost", 1)], |s| {
                untold(s, Word::Unknown);
                s.facts.orders[1].key = Some("k-7".to_owned());
            }),
            violated("no key at all", &[("ghost", 1)], |s| {
                untold(s, Word::Unknown);
                s.facts.orders[1].key = None;
            }),
            violated("an order of minus one does not hide one", &[("ghost", 2)], |s| {
                s.record("o-7", 1, None);
                s.record("o-8", -1, None);
            }),
            violated("more units than were bought", &[("ghost", 2)], |s| {
                s.stake.stock = 4;
                s.facts.orders[0].quantity = 3;
            }),
            Row {
                explained: 1,
                ..holds("the answer was lost in a crash", |s| {
                    untold(s, Word::Unknown);
                    s.stake.fault = Some(FaultSeen::Struck);
                })
            },
            Row {
                explained: 1,
                ..violated("a lost answer explains no more than was bought", &[("ghost", 2)], |s| {
                    untold(s, Word::Unknown);
                    s.stake.fault = Some(FaultSeen::Struck);
                    s.stake.stock = 4;
                    s.facts.orders[1].quantity = 3;
                })
            },
        ],
        Scene::exact,
    );
}

#[test]
fn a_counter_that_does_not_agree_with_the_orders_drifts() {
    check(
        &[
            violated("taken, but not recorded", &[("drift", 2)], |s| {
                s.stake.stock = 4;
            }),
            violated("recorded, but not taken", &[("drift", -1)], |s| {
                s.told.answers.pop();
                s.facts.stock_left = 1;
            }),
        ],
        Scene::exact,
    );
}

#[test]
fn a_second_order_for_one_key_is_a_duplicate_and_no_ghost() {
    check(
        &[
            violated("nobody was told of it", &[("duplicate", 1)], |s| {
                s.stake.stock = 3;
                s.record("o-7", 1, Some("k-0"));
            }),
            violated("listed before the one that was told", &[("duplicate", 1)], |s| {
                s.stake.stock = 3;
                s.record("o-7", 1, Some("k-0"));
                s.facts.orders.rotate_right(1);
            }),
            violated("made by a second click", &[("duplicate", 1)], |s| {
                s.click_again(Word::Sold, Some("o-7"), 2);
            }),
            violated("made by a second click that was refused", &[("duplicate", 1)], |s| {
                s.click_again(Word::SoldOut, None, 2);
            }),
            holds("a second click is told of its own order", |s| {
                s.click_again(Word::Sold, Some("o-0"), 1)
            }),
            violated(
                "beyond the stock",
                &[("oversold", 1), ("drift", -1), ("duplicate", 1)],
                |s| {
                    s.record("o-7", 1, Some("k-0"));
                },
            ),
            holds("orders without a key are nobody's second", |s| {
                s.facts.orders.iter_mut().for_each(|order| order.key = None);
            }),
        ],
        Scene::exact,
    );
}

#[test]
fn a_shop_that_sold_and_now_sells_to_nobody_is_stuck() {
    fn left(scene: &mut Scene, word: Word) {
        scene.told.answers.pop();
        scene.stake.stock = 4;
        scene.facts.stock_left = 2;
        scene.last_buyer(word);
    }
    check(
        &[
            violated("busy", &[("stuck", 1)], |s| left(s, Word::Busy)),
            violated("silent", &[("stuck", 1)], |s| left(s, Word::Unknown)),
            violated("rejecting", &[("stuck", 1)], |s| left(s, Word::Rejected)),
            violated("sold out is undersold, not stuck", &[("undersold", 1)], |s| {
                left(s, Word::SoldOut)
            }),
        ],
        Scene::exact,
    );
}

#[test]
fn a_ledger_too_long_to_read_is_full_of_ghosts() {
    check(
        &[
            violated("cut short", &[("ghost", 2)], |s| s.facts.cut_short = true),
            violated("cut short before the first order", &[("ghost", 1)], |s| {
                s.facts.cut_short = true;
                s.facts.orders.clear();
            }),
        ],
        Scene::exact,
    );
}
