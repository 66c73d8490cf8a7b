//! Results of a trace: the purchases inside the lock at the same time, and the waits for it.

use loadtest::shop::response::ResponseKind;
use loadtest::trace::{Overlap, Role, Trace, Waits};

use crate::fixture::Fixture;
use crate::trace::{event, instance};

/// A step of a purchase: its number, the role, and when it began and ended, in microseconds.
type Taken = (u64, Option<Role>, u64, Option<u64>);

fn trace(taken: &[Taken]) -> Trace {
    let events = taken.iter().flat_map(|(number, role, began, ended)| {
        let end = ended.map(|ended| event(*number, "step", *role, ended, Some("done")));
        [Some(event(*number, "step", *role, *began, None)), end]
    });
    Trace::of(vec![instance("app-1", events.flatten().collect())]).unwrap()
}

const LOCK: Option<Role> = Some(Role::Lock);
const READ: Option<Role> = Some(Role::Read);
const WRITE: Option<Role> = Some(Role::Write);
const RELEASE: Option<Role> = Some(Role::Release);

/// The steps of purchases, and the expected overlap: the number of pairs and the longest shared time, in microseconds.
type Held = (&'static str, Vec<Taken>, Option<(u64, u64)>);

/// The steps of purchases, and the expected longest wait with Jain's index.
type Waited<'a> = (&'static str, &'a [Taken], Option<(u64, Option<f64>)>);

/// A purchase that holds the lock between these times.
fn holds(number: u64, from: u64, until: u64) -> [Taken; 3] {
    [
        (number, LOCK, from - 5, Some(from)),
        (number, READ, from, Some(from + 1)),
        (number, RELEASE, until, Some(until + 5)),
    ]
}

fn check(table: Vec<Held>) {
    for (name, taken, expected) in table {
        let found = Overlap::of(&trace(&taken).purchases);
        let found = found.map(|overlap| (overlap.pairs, overlap.longest_us));
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn two_purchases_overlap_if_both_are_between_acquire_and_release() {
    check(vec![
        (
            "no purchase locks",
            vec![(1, READ, 10, Some(20)), (2, READ, 10, Some(20))],
            None,
        ),
        (
            "one after the other",
            [holds(1, 10, 20), holds(2, 20, 30)].concat(),
            Some((0, 0)),
        ),
        (
            "both at once",
            [holds(1, 10, 20), holds(2, 16, 30)].concat(),
            Some((1, 4)),
        ),
        (
            "one within the other",
            [holds(1, 10, 90), holds(2, 20, 30)].concat(),
            Some((1, 10)),
        ),
        (
            "three at once",
            [holds(1, 10, 40), holds(2, 20, 60), holds(3, 35, 70)].concat(),
            Some((3, 25)),
        ),
    ]);
}

#[test]
fn a_purchase_that_got_no_lock_or_is_dead_is_not_inside() {
    check(vec![
        (
            "the second one asks and does not get it",
            [
                holds(1, 10, 40).to_vec(),
                vec![(2, LOCK, 15, Some(16)), (2, LOCK, 20, Some(21))],
            ]
            .concat(),
            Some((0, 0)),
        ),
        (
            "the second one gets it at the second time",
            [
                holds(1, 10, 40).to_vec(),
                vec![(2, LOCK, 12, Some(15)), (2, None, 15, Some(35))],
                holds(2, 42, 50).to_vec(),
            ]
            .concat(),
            Some((0, 0)),
        ),
        (
            "the second one takes back what it has put into a queue",
            [
                holds(1, 10, 40).to_vec(),
                vec![(2, LOCK, 15, Some(16)), (2, RELEASE, 20, Some(30))],
            ]
            .concat(),
            Some((0, 0)),
        ),
        (
            "the second one does that, and then looks at the stock without a lock",
            [
                holds(1, 10, 40).to_vec(),
                vec![
                    (2, LOCK, 15, Some(16)),
                    (2, RELEASE, 18, Some(19)),
                    (2, READ, 20, Some(30)),
                ],
            ]
            .concat(),
            Some((0, 0)),
        ),
        (
            "the first one is killed: the last that is known of it ends its time",
            [
                vec![(1, LOCK, 5, Some(10)), (1, READ, 10, Some(18)), (1, WRITE, 19, None)],
                holds(2, 15, 90).to_vec(),
            ]
            .concat(),
            Some((1, 4)),
        ),
        (
            "one takes two turns",
            [holds(1, 10, 20), holds(2, 30, 50), holds(1, 45, 60)].concat(),
            Some((1, 5)),
        ),
    ]);
}

#[test]
fn a_wait_lasts_from_the_first_step_for_the_lock_to_the_last_one_and_jain_says_how_even_waits_are() {
    let table: [Waited<'_>; 7] = [
        ("no purchase locks", &[(0, READ, 0, Some(9))], None),
        ("one buyer", &[(0, LOCK, 0, Some(9))], Some((9, None))),
        (
            "all equally long",
            &[(0, LOCK, 0, Some(9)), (1, LOCK, 5, Some(14)), (2, LOCK, 7, Some(16))],
            Some((9, Some(1.0))),
        ),
        (
            "one does all the waiting",
            &[(0, LOCK, 0, Some(0)), (1, LOCK, 5, Some(90)), (2, LOCK, 7, Some(7))],
            Some((85, Some(0.333))),
        ),
        (
            "one asks again and again, and gives up",
            &[
                (0, LOCK, 0, Some(2)),
                (0, None, 2, Some(7)),
                (0, LOCK, 7, Some(8)),
                (1, LOCK, 0, Some(4)),
            ],
            Some((8, Some(0.9))),
        ),
        (
            "one buyer comes twice: the longest wait counts",
            &[(0, LOCK, 0, Some(8)), (1, LOCK, 0, Some(8)), (10, LOCK, 9, Some(12))],
            Some((8, Some(1.0))),
        ),
        (
            "one comes after the attack",
            &[(0, LOCK, 0, Some(8)), (1, LOCK, 0, Some(8)), (7, LOCK, 9, Some(99))],
            Some((8, Some(1.0))),
        ),
    ];
    let mut control = Fixture::exact();
    let late = control.later(7, ResponseKind::Busy, None, 1);
    control.responses.follow_up.push(late);
    for (name, taken, expected) in table {
        let mut trace = trace(taken);
        for purchase in trace.purchases.iter_mut().filter(|purchase| purchase.buyer == "b-10") {
            purchase.buyer = "b-1".to_owned();
        }
        let waits = Waits::of(&trace.purchases, &control.responses).map(|waits| (waits.longest_us, waits.jain));
        assert_eq!(waits, expected, "{name}");
    }
}
