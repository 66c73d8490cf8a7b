//! Results that were edited after their run.

use std::fs;
use std::path::Path;

use loadtest::plan::soak::Soak;
use loadtest::report::stories;
use loadtest::report::terminal_summary::screen;
use loadtest::result::RunResult;
use loadtest::result::compare::compare;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::report::rendered;

/// A round that holds and a violated one.
const GOOD: &str = include_str!("../lying_shop/good.json");

/// The numbers of a round that holds which follow from its other numbers.
const NUMBERS: [&str; 17] = [
    "/rounds/0/stock",
    "/rounds/0/told/sold",
    "/rounds/0/told/rejected",
    "/rounds/0/told/unknown",
    "/rounds/0/facts/recorded",
    "/rounds/0/facts/explained",
    "/rounds/0/facts/stock_left",
    "/rounds/0/findings/oversold",
    "/rounds/0/findings/duplicate",
    "/rounds/0/findings/lost",
    "/rounds/0/findings/ghost",
    "/rounds/0/findings/stuck",
    "/rounds/0/findings/unavailable",
    "/rounds/0/findings/undersold",
    "/rounds/0/findings/false_refusal",
    "/rounds/0/findings/drift",
    "/rounds/0/findings/unreadable",
];

/// Returns the good result with other values in these places.
fn edited(edits: &[(&str, Value)]) -> Vec<u8> {
    let mut result: Value = serde_json::from_str(GOOD).unwrap();
    for (place, value) in edits {
        let (parent, name) = place.rsplit_once('/').unwrap();
        let parent = result.pointer_mut(parent).unwrap().as_object_mut().unwrap();
        parent.insert(name.to_owned(), value.clone());
    }
    serde_json::to_vec(&result).unwrap()
}

fn refusal(edits: &[(&str, Value)]) -> String {
    let read = RunResult::parse(&edited(edits));
    format!("{:#}", read.err().unwrap_or_else(|| panic!("{edits:?} was believed")))
}

proptest! {
    #[test]
    fn a_number_of_a_round_that_holds_cannot_be_changed(place in 0..NUMBERS.len(), number: i64) {
        let good: Value = serde_json::from_str(GOOD).unwrap();
        let place = NUMBERS[place];
        prop_assume!(good.pointer(place).unwrap() != &json!(number));
        let said = refusal(&[(place, json!(number))]);
        prop_assert!(said.starts_with("round 1 (lua@redis, second-instance, repeat 1) disagrees with itself: "), "{}", said);
    }

    #[test]
    fn no_text_of_a_result_reaches_its_reader_as_it_is(text in "\\PC{0,8}[\\x00-\\x1f\u{7f}\u{9b}\u{202e}]\\PC{0,80}") {
        for place in ["/rounds/0/verdict", "/rounds/0/told/sold", "/rounds/0/findings/oversold", "/rounds/0/strategy",
            "/rounds/0/phase", "/rounds/1/story/shows", "/schema_version", "/as_designed"] {
            let said = refusal(&[(place, json!(text))]);
            prop_assert!(said.chars().all(|c| c == ' ' || c.is_ascii_graphic()), "{}: {:?}", place, said);
            prop_assert!(said.len() < 500, "{}: {:?}", place, said);
        }
    }
}

#[test]
fn the_first_round_and_field_that_disagree_are_named() {
    assert!(RunResult::parse(GOOD.as_bytes()).is_ok());
    let found = |finding, size: i64| (finding, json!(size));
    let table: &[(&[(&str, Value)], &str)] = &[
        (
            &[found("/rounds/0/findings/oversold", 40)],
            "round 1 (lua@redis, second-instance, repeat 1) disagrees with itself: verdict does not follow",
        ),
        (
            &[("/rounds/1/verdict", json!("holds"))],
            "round 2 (mutex@redis, second-instance, repeat 1)",
        ),
        (
            &[("/rounds/1/verdict", json!("inconclusive"))],
            ": verdict does not follow",
        ),
        (
            &[("/rounds/0/inconclusive", json!("a reason"))],
            ": verdict does not follow",
        ),
        (
            &[("/rounds/1/inconclusive", json!("a reason"))],
            ": inconclusive is the reason",
        ),
        (
            &[("/rounds/0/skipped", json!("a reason"))],
            ": told is there in a round that was not played",
        ),
        (
            &[("/rounds/0/not_playable", json!("a reason"))],
            ": told is there in a round that was not played",
        ),
        (
            &[("/rounds/0/told", json!({}))],
            ": told is there in a round that was not played",
        ),
        (&[("/rounds/0/claimed", json!(false))], ": as_designed does not follow"),
        (&[("/rounds/1/claimed", json!(true))], ": as_designed does not follow"),
        (&[("/rounds/0/undeclared", json!(true))], ": claimed contradicts"),
        (
            &[("/rounds/0/as_designed", json!(false))],
            ": as_designed does not follow",
        ),
        (&[("/rounds/1/findings/oversold", json!(11))], ": oversold is less"),
        (&[("/rounds/1/findings/oversold", json!(13))], ": oversold is more"),
        (&[("/rounds/1/findings/drift", json!(-11))], ": drift is less"),
        (&[("/rounds/1/findings/ghost", json!(-1))], ": findings are less than 0"),
        (
            &[
                found("/rounds/1/findings/oversold", 0),
                found("/rounds/1/findings/drift", 0),
            ],
            "disagrees with itself: verdict",
        ),
        (
            &[
                found("/rounds/1/findings/oversold", 0),
                found("/rounds/1/findings/drift", 0),
                ("/rounds/1/verdict", json!("inconclusive")),
                ("/rounds/1/inconclusive", json!("a reason")),
                ("/rounds/1/as_designed", json!(false)),
            ],
            ": oversold is less",
        ),
        (
            &[("/rounds/0/facts/stock_left", Value::Null)],
            ": stock_left is not the rest",
        ),
        (
            &[("/rounds/0/told/sold_out", json!(11))],
            ": told is less than was asked for",
        ),
        (&[("/rounds/0/quantity", json!(0))], ": quantity is not at least 1"),
        (
            &[("/rounds/0/quantity", json!(5))],
            ": demand is no number of whole purchases",
        ),
        (&[("/rounds/0/items", json!(2))], ": drift is less"),
        (&[("/rounds/0/strategy", json!("a b"))], "round 1 (a b, second-instance"),
        (
            &[("/rounds/1/story/shows", json!("lost"))],
            ": story shows what was not found",
        ),
        (
            &[("/rounds/1/story/purchases", json!([]))],
            ": story shows what was not found",
        ),
        (
            &[(
                "/rounds/0/evidence",
                json!([{"finding": "lost", "order": "o", "key": "k", "buyer": "b", "quantity": 1}]),
            )],
            ": evidence shows what was not found",
        ),
        (
            &[("/rounds/0/latency_us/sold/p50", json!(9_000))],
            ": latency_us does not rise",
        ),
        (
            &[("/rounds/0/latency_us/sold/n", json!(13))],
            ": latency_us does not rise",
        ),
        (&[("/rounds/0/sales_per_s", json!(0))], ": sales_per_s is not"),
        (&[("/rounds/0/sales_per_s", json!(-1))], ": sales_per_s is not"),
        (&[("/rounds/1/jain", json!(1.5))], ": jain is not from 0 to 1"),
        (
            &[("/as_designed", json!(false))],
            "as_designed is false, and the rounds make it true",
        ),
        (
            &[("/as_designed", Value::Null)],
            "as_designed is null, and the rounds make it true",
        ),
        (
            &[("/ended_early", json!("after 2 of 9 rounds"))],
            "as_designed is true, and the rounds make it null",
        ),
        (
            &[("/rounds", json!([]))],
            "as_designed is true, and the rounds make it null",
        ),
    ];
    for (edits, expected) in table {
        let said = refusal(edits);
        assert!(said.contains(expected), "{edits:?}: {said}");
    }
}

#[test]
fn the_largest_numbers_of_a_result_are_believed_and_can_be_shown() {
    let least_counter = edited(&[
        ("/rounds/1/facts/stock_left", json!(i64::MIN)),
        ("/rounds/1/findings/drift", json!(i64::MAX)),
    ]);
    assert!(RunResult::parse(&least_counter).is_ok());
    let mut run = RunResult::parse(&edited(&[
        ("/rounds/1/told/sold", json!(i64::MAX)),
        ("/rounds/1/facts/recorded", json!(i64::MAX)),
        ("/rounds/1/facts/stock_left", json!(i64::MIN)),
        ("/rounds/1/findings/oversold", json!(i64::MAX)),
        ("/rounds/1/findings/lost", json!(i64::MAX)),
        ("/rounds/1/findings/drift", json!(i64::MIN)),
    ]))
    .unwrap();
    run.rounds.extend_from_within(..);
    for soak in [None, Some(Soak::new(1, Some(7)))] {
        run.soak = soak;
        let shown = screen(&run, false, 80);
        assert!(shown.contains("9223372036854775807 sold of 12"), "{shown}");
        assert!(
            rendered(&run)
                .iter()
                .all(|text| text.contains("oversold") || text.contains("oversells"))
        );
        assert!(!compare(&run, &run).has_changed);
        assert!(
            stories(&run)
                .replace("\n", " ")
                .contains("oversold 9223372036854775807")
        );
    }
}

#[test]
fn every_committed_result_agrees_with_itself() {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results");
    let files = fs::read_dir(results)
        .unwrap()
        .map(|run| run.unwrap().path().join("result.json"));
    for file in files.filter(|file| file.exists()) {
        let read = RunResult::parse(&fs::read(&file).unwrap());
        assert!(read.is_ok(), "{}: {:#}", file.display(), read.unwrap_err());
    }
}
