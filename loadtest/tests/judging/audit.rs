//! What the judge finds.

use loadtest::answer::Word;
use loadtest::audit::Verdict;

use crate::scene::{ANSWER, Row, Scene, check, holds, inconclusive, violated};

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
                        s.record(place, 1);
                    }
                },
            ),
            violated("sold below zero", &[("oversold", 1)], |s| {
                s.sold(3, Some("o-3"));
                s.record(3, 1);
                s.facts.stock_left = Some(-1);
            }),
            violated("told, but not recorded", &[("oversold", 1), ("lost", 1)], |s| {
                s.sold(3, Some("o-3"));
            }),
            violated(
                "recorded, but not told",
                &[("oversold", 1), ("ghost", 1), ("drift", -1)],
                |s| s.record_as("o-3", 1, None, "b-3"),
            ),
            violated(
                "sold to the last buyer, after the stock was gone",
                &[("oversold", 1), ("false_refusal", 1), ("drift", -1)],
                |s| {
                    let answer = s.later(9, Word::Sold, Some("o-9"), 1);
                    s.told.follow_up.push(answer);
                    s.record(9, 1);
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
                s.last_buyer(Word::SoldOut);
            }),
            inconclusive(
                "units are left, but nobody was refused",
                "the stock never ran out: 7 units were left",
                |s| {
                    s.told.attack.retain(|answer| answer.word == Word::Sold);
                    s.expected.stock = 9;
                    s.facts.stock_left = Some(7);
                },
            ),
        ],
        Scene::exact,
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
        || Scene::of(3),
    );
}

#[test]
fn being_told_sold_out_before_somebody_who_came_later_was_sold_to_is_a_false_refusal() {
    /// Buyer 1 comes after buyer 2 was told sold out.
    fn refused_first(scene: &mut Scene) {
        let later = scene.later(1, Word::Sold, Some("o-1"), 2);
        scene.told.attack[1] = later;
        let met = scene.answer(3, Word::Busy, None);
        scene.told.attack.push(met);
    }
    check(
        &[
            violated("and then sold", &[("false_refusal", 1)], refused_first),
            holds("sent while the refusal was on its way", |s| {
                refused_first(s);
                s.told.attack[1].sent = s.start + ANSWER;
            }),
            holds("sent before, and answered again after", |s| {
                s.click_again(Word::Sold, Some("o-0"))
            }),
        ],
        Scene::exact,
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
                s.record_as("o-7", 1, Some("k-1"), "b-1");
            }),
            violated("the buyer was told no id", &[("lost", 1), ("ghost", 1)], |s| {
                s.told.attack[1].order = None;
            }),
            violated("the id is empty, here and there", &[("lost", 1), ("ghost", 1)], |s| {
                s.told.attack[1].order = Some(String::new());
                s.facts.orders[1].id = String::new();
            }),
            violated("one order was told to two buyers", &[("lost", 1), ("drift", 1)], |s| {
                s.told.attack[1].order = Some("o-0".to_owned());
                s.unrecord("o-1");
            }),
            violated("two buyers were told each other's", &[("lost", 2), ("ghost", 2)], |s| {
                s.told.attack[0].order = Some("o-1".to_owned());
                s.told.attack[1].order = Some("o-0".to_owned());
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
                s.told.attack[1].order = Some("o-0".to_owned());
                s.unrecord("o-1");
                s.facts.orders[0].quantity = 2;
            }),
        ],
        Scene::exact,
    );
    let smaller = violated(
        "fewer units were recorded than told",
        &[("lost", 3), ("ghost", 1), ("drift", 2)],
        |s| {
            s.unrecord("o-1");
            s.record(1, 1);
        },
    );
    check(&[smaller], || Scene::of(3));
}

#[test]
fn an_order_has_to_be_there_at_every_look_after_it_was_told() {
    fn seen_without(scene: &mut Scene, after: u32, at_rest: bool) {
        let facts = scene.facts.clone();
        scene.unrecord("o-1");
        scene.look(after, at_rest);
        scene.facts = facts;
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
        Scene::exact,
    );
}

#[test]
fn an_order_that_nobody_was_told_of_is_a_ghost_unless_an_answer_is_missing() {
    /// Buyer 1's answer became `word`; the order is still there.
    fn untold(scene: &mut Scene, word: Word) {
        scene.told.attack.remove(1);
        scene.say(1, word);
        scene.expected.instances = 1;
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
            violated("another buyer's", &[("ghost", 1)], |s| {
                untold(s, Word::Unknown);
                s.facts.orders[1].buyer = Some("b-7".to_owned());
            }),
            violated("no key at all", &[("ghost", 1)], |s| {
                untold(s, Word::Unknown);
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
                    untold(s, Word::Unknown);
                    s.struck();
                })
            },
            violated(
                "a lost answer explains no more than was bought",
                &[("ghost", 3), ("drift", -2)],
                |s| {
                    untold(s, Word::Unknown);
                    s.struck();
                    s.expected.stock = 4;
                    s.facts.stock_left = Some(2);
                    s.facts.orders[1].quantity = 3;
                    s.told.attack.retain(|answer| answer.word != Word::SoldOut);
                },
            ),
        ],
        Scene::exact,
    );
}

#[test]
fn numbers_that_fit_nowhere_are_found_all_the_same() {
    check(
        &[
            violated(
                "two orders whose sum wraps to nothing",
                &[("oversold", i64::MAX), ("ghost", i64::MAX), ("drift", i64::MIN)],
                |s| {
                    for id in ["o-7", "o-8", "o-9"] {
                        s.record_as(id, i64::MAX, None, "nobody");
                    }
                },
            ),
            violated("a counter at the end of all numbers", &[("drift", i64::MAX)], |s| {
                s.facts.stock_left = Some(i64::MIN);
            }),
            violated(
                "a counter at the other end",
                &[("undersold", 1), ("drift", -i64::MAX)],
                |s| {
                    s.facts.stock_left = Some(i64::MAX);
                },
            ),
        ],
        Scene::exact,
    );
}

#[test]
fn a_counter_that_does_not_agree_with_the_orders_drifts() {
    check(
        &[
            violated("taken, but not recorded", &[("drift", 2)], |s| {
                s.expected.stock = 4;
            }),
            violated("recorded, but not taken", &[("drift", -1)], |s| {
                s.told.attack.pop();
                s.facts.stock_left = Some(1);
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
                s.click_again(Word::Sold, Some("o-7"));
                s.record_as("o-7", 1, Some("k-0"), "b-0");
            }),
            violated("made by a second click that was refused", &[("duplicate", 1)], |s| {
                s.expected.stock = 3;
                s.click_again(Word::SoldOut, None);
                s.record_as("o-7", 1, Some("k-0"), "b-0");
            }),
            violated("made by a click with another quantity", &[("duplicate", 2)], |s| {
                s.expected.stock = 4;
                let mut answer = s.later(0, Word::Sold, Some("o-7"), 1);
                answer.quantity = 2;
                s.told.altered.push(answer);
                s.record_as("o-7", 2, Some("k-0"), "b-0");
            }),
            violated(
                "a second click is told of an order that is not there",
                &[("lost", 1)],
                |s| {
                    s.expected.stock = 3;
                    s.facts.stock_left = Some(1);
                    s.told.attack.retain(|answer| answer.word == Word::Sold);
                    s.click_again(Word::Sold, Some("o-7"));
                },
            ),
            holds("a second click is told of its own order", |s| {
                s.click_again(Word::Sold, Some("o-0"))
            }),
            holds("and one with another quantity is refused", |s| {
                let answer = s.later(0, Word::Rejected, None, 1);
                s.told.altered.push(answer);
            }),
            violated(
                "beyond the stock",
                &[("oversold", 1), ("duplicate", 1), ("drift", -1)],
                |s| s.record_as("o-7", 1, Some("k-0"), "b-0"),
            ),
        ],
        Scene::exact,
    );
}

#[test]
fn a_shop_that_sold_and_now_sells_to_nobody_is_stuck() {
    fn left(scene: &mut Scene, word: Word) {
        scene.told.attack.pop();
        scene.expected.stock = 4;
        scene.facts.stock_left = Some(2);
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
            inconclusive(
                "busy, but nothing is left that it could sell",
                "nobody was told in the end that the item is sold out",
                |s| s.last_buyer(Word::Busy),
            ),
        ],
        Scene::exact,
    );
}

#[test]
fn a_ledger_that_is_too_long_or_unreadable_is_a_finding() {
    check(
        &[
            violated("cut short", &[("ghost", 2)], |s| s.facts.cut_short = true),
            violated("cut short before the first order", &[("ghost", 1)], |s| {
                s.facts.cut_short = true;
                s.facts.orders.clear();
            }),
            violated("cut short at an earlier look", &[("ghost", 2)], |s| {
                s.facts.cut_short = true;
                s.look(1, false);
                s.facts.cut_short = false;
            }),
            violated("an entry that is none", &[("unreadable", 1)], |s| {
                s.facts.unreadable = 1
            }),
            violated("no counter", &[("unreadable", 1)], |s| s.facts.stock_left = None),
        ],
        Scene::exact,
    );
}
