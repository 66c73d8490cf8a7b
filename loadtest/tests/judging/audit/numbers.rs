//! Findings about numbers: sums, the counter, and a ledger that cannot be read.

use loadtest::audit::Verdict;

use crate::fixture::{Fixture, check, violated};

#[test]
fn a_round_in_which_all_ledgers_agree_holds_and_counts_its_units() {
    let judged = Fixture::of(3).judge();
    assert_eq!(judged.verdict, Verdict::Holds);
    assert_eq!(judged.findings.named(), []);
    assert_eq!((judged.recorded, judged.explained), (6, 0));
    assert_eq!(judged.inconclusive, None);
}

#[test]
fn numbers_out_of_range_are_found() {
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
        Fixture::exact,
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
                s.responses.attack.pop();
                s.facts.stock_left = Some(1);
            }),
        ],
        Fixture::exact,
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
        Fixture::exact,
    );
}
