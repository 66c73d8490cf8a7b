//! The choice of the purchases whose steps explain a finding.

use loadtest::shop::response::ResponseKind;
use loadtest::trace::Role;

use crate::fixture::Fixture;
use crate::stories::{buyers, events, oversold, responses, story, update};

#[test]
fn purchases_without_a_part_and_second_deliveries_are_left_out() {
    let mut control = oversold();
    control.sold(3, Some("o-3"));
    control.sold(4, Some("o-4"));
    control.record(3, 1);
    control.record(4, 1);
    let mut again = update(9, 2_001, "left 7", "wrote 6");
    for event in &mut again {
        event.buyer = Some("b-4".to_owned());
    }
    let all = [
        update(2, 0, "left 9", "wrote 8"),
        update(0, 500, "left 9", "wrote 8"),
        update(1, 600, "left 9", "wrote 8"),
        update(3, 1_900, "left 8", "wrote 7"),
        update(4, 2_000, "left 7", "wrote 6"),
        again,
    ];
    let found = story(&control, vec![all.concat()]).unwrap();
    assert_eq!(buyers(&found), ["b-0", "b-1"]);
    assert!(responses(&control, found).ends_with(": 2 sold, and the stock fell by 1.\n"));
    // Purchases that only met are better than none.
    let met = [update(0, 500, "left 9", "wrote 8"), update(1, 600, "left 5", "wrote 4")];
    let met = story(&control, vec![met.concat()]).unwrap();
    assert_eq!(buyers(&met), ["b-0", "b-1"]);
    assert!(responses(&control, met).ends_with("A read 9; B read 5; A wrote 8; B wrote 4: 2 sold.\n"));
    let apart = [
        update(0, 500, "left 9", "wrote 8"),
        update(1, 5_000, "left 5", "wrote 4"),
    ];
    assert_eq!(story(&control, vec![apart.concat()]), None);
}

#[test]
fn a_write_in_a_transaction_is_seen_by_others_after_its_commit() {
    let control = oversold();
    let transaction = |number: u64, at| {
        let (read, wrote) = (format!("left {}", number + 1), format!("wrote {number}"));
        let mut steps = update(number, at, &read, &wrote);
        steps.extend(events(number, &[(at + 1_020, at + 9_000, "commit", Role::Commit, "")]));
        steps
    };
    // The second one reads when the first one has written but not committed.
    let found = story(&control, vec![transaction(0, 0), transaction(1, 1_030)]).unwrap();
    assert_eq!(buyers(&found), ["b-0", "b-1"]);
    let after = story(&control, vec![transaction(0, 0), transaction(1, 9_030)]);
    assert_eq!(after, None);
}

#[test]
fn two_purchases_with_the_same_read_and_write_show_that_the_store_lost_a_write() {
    let control = oversold();
    let apart = [
        update(0, 500, "left 9", "wrote 8"),
        update(1, 5_000, "left 9", "wrote 8"),
    ];
    let found = story(&control, vec![apart.concat()]).unwrap();
    assert_eq!(buyers(&found), ["b-0", "b-1"]);
    assert!(
        responses(&control, found)
            .ends_with("A read 9; A wrote 8; B read 9; B wrote 8: 2 sold, and the stock fell by 1.\n")
    );
}

#[test]
fn a_purchase_killed_half_way_shows_why_the_ledgers_differ() {
    let mut control = Fixture::exact();
    control.say(3, ResponseKind::Unknown);
    control.say(4, ResponseKind::Unknown);
    control.facts.stock_left = Some(-1);
    control.struck();
    let take = |number, at| events(number, &[(at, at + 10, "take", Role::Write, "taken")]);
    let asks = |number, at| events(number, &[(at, at + 10, "lock", Role::Lock, "taken")]);
    let mut other_life = take(4, 900);
    for event in &mut other_life {
        event.life = "another".to_owned();
    }
    let all = [take(0, 0), take(1, 5), asks(2, 6), take(3, 7), other_life].concat();
    let found = story(&control, vec![all]).unwrap();
    assert_eq!(buyers(&found), ["b-3"]);
    assert!(found.purchases[0].killed);
}

#[test]
fn two_purchases_with_the_same_stock_left_show_that_the_store_forgot_one() {
    let control = oversold();
    let take = |number, at, said| events(number, &[(at, at + 10, "take", Role::Write, said)]);
    let forgot = [
        take(0, 0, "taken, left 3"),
        take(1, 500, "taken, left 3"),
        take(2, 900, "taken, left 2"),
    ];
    let found = story(&control, vec![forgot.concat()]).unwrap();
    assert_eq!(buyers(&found), ["b-0", "b-1"]);
    // If the store does not return the stock left, two equal answers are normal.
    let silent = [take(0, 0, "taken"), take(1, 500, "taken")];
    assert_eq!(story(&control, vec![silent.concat()]), None);
}
