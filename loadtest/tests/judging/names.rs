//! The names that a run draws for its items, buyers and keys, and the business time of its purchases.

use std::collections::HashSet;

use loadtest::sale::Names;
use proptest::prelude::*;
use uuid::Uuid;

fn names(seed: u128) -> Names {
    serde_json::from_value(serde_json::json!({ "seed": Uuid::from_u128(seed) })).unwrap()
}

/// Whether the contract allows a name.
fn is_allowed(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=64).contains(&name.len()) && name.bytes().all(plain)
}

/// Returns a name with one sign for each kind of character, so that names of one style are alike.
fn shape(name: &str) -> String {
    let mut shape: Vec<char> = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { 'a' } else { c })
        .collect();
    shape.dedup();
    shape.iter().collect()
}

proptest! {
    #[test]
    fn names_are_allowed_and_none_comes_twice_in_a_run(seed: u128) {
        let names = names(seed);
        let keys = ["one", "other"].map(|item| (0..300).map(|number| names.key(item, number)).collect::<Vec<_>>());
        let all = [
            (0..300).map(|nth| names.item(nth)).collect(),
            (0..300).map(|number| names.buyer(number)).collect(),
            keys.concat(),
        ];
        for all in all {
            prop_assert!(all.iter().all(|name| is_allowed(name)), "{:?}", all);
            prop_assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len());
        }
    }

    #[test]
    fn two_numbers_are_two_buyers(seed: u128, one: u32, other: u32) {
        prop_assume!(one != other);
        let names = names(seed);
        prop_assert_ne!(names.buyer(one as usize), names.buyer(other as usize));
    }

    #[test]
    fn the_business_time_is_near_the_one_that_was_asked_for_and_equal_on_average(
        seed: u128,
        asked in 0..=5_000_u64,
        pair in 0..1_000_usize,
    ) {
        let names = names(seed);
        let drawn = [2 * pair, 2 * pair + 1].map(|number| names.work_ms(asked, number));
        prop_assert_eq!(drawn.iter().sum::<u64>(), 2 * asked);
        let most = (asked / 4).max(1);
        for drawn in drawn {
            prop_assert!(drawn.abs_diff(asked) <= most && drawn <= 5_000, "{} of {}", drawn, asked);
        }
    }
}

#[test]
fn a_worker_that_is_told_the_names_of_a_run_sends_the_same() {
    let names = Names::draw();
    let told: Names = serde_json::from_str(&serde_json::to_string(&names).unwrap()).unwrap();
    for number in 0..100 {
        assert_eq!(told.item(number), names.item(number));
        assert_eq!(told.buyer(number), names.buyer(number));
        assert_eq!(told.key("an-item", number), names.key("an-item", number));
        assert_eq!(told.work_ms(1, number), names.work_ms(1, number));
    }
}

#[test]
fn no_run_has_the_names_of_another_and_their_style_changes_from_run_to_run() {
    let runs: Vec<Names> = (0..200).map(|_| Names::draw()).collect();
    let kinds: [fn(&Names) -> String; 3] = [
        |names| names.item(0),
        |names| names.buyer(0),
        |names| names.key("an-item", 0),
    ];
    for of in kinds {
        let all: Vec<String> = runs.iter().map(of).collect();
        assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "{all:?}");
        let shapes: HashSet<String> = all.iter().map(|name| shape(name)).collect();
        assert!(shapes.len() >= 3, "{shapes:?}");
        // No part of a name is in all of them.
        let begins: HashSet<&str> = all.iter().map(|name| &name[..2]).collect();
        assert!(begins.len() > 20, "{begins:?}");
    }
}

#[test]
fn at_one_millisecond_few_purchases_are_without_business_time() {
    let names = Names::draw();
    let drawn: Vec<u64> = (0..4_000).map(|number| names.work_ms(1, number)).collect();
    let share = |of: u64| drawn.iter().filter(|ms| **ms == of).count();
    let [none, one, two] = [0, 1, 2].map(share);
    assert_eq!((none + one + two, none), (drawn.len(), two));
    assert!((300..700).contains(&none), "{none}");
}
