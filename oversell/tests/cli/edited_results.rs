//! Saved results that were edited: each command that reads a result refuses them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{output, stderr, stdout};

/// A result that agrees with itself.
const GOOD: &str = include_str!("../../../loadtest/tests/lying_shop/good.json");

/// Every command that reads `result`, which is a file or a folder.
fn readers<'a>(result: &'a str, good: &'a str, document: &'a str) -> [Vec<&'a str>; 7] {
    [
        vec!["report", result],
        vec!["report", result, "--json"],
        vec!["report", result, "--story"],
        vec!["report", result, "--into", document],
        vec!["compare", result, good],
        vec!["compare", good, result],
        vec!["choose", result],
    ]
}

/// Puts the result in `place`, and lets every command read it. Each has to say this, without any command to a terminal.
fn is_refused(place: &Path, text: &str, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let [good, document] = ["good.json", "README.md"].map(|name| folder.path().join(name));
    fs::write(&good, GOOD).unwrap();
    fs::write(&document, "<!-- results --><!-- /results -->\n").unwrap();
    fs::write(place, text).unwrap();
    let [place, good, document] = [place, &good, &document].map(|path| path.to_str().unwrap());
    for arguments in readers(place, good, document) {
        let refused = output(&arguments);
        let said = stderr(&refused);
        assert_eq!(
            (refused.status.code(), stdout(&refused).as_str()),
            (Some(64), ""),
            "{arguments:?}: {said}"
        );
        assert!(said.contains(expected), "{arguments:?}: {said}");
        let is_printable = |c: char| c == ' ' || c.is_ascii_graphic();
        assert!(said.trim_end().chars().all(is_printable), "{arguments:?}: {said:?}");
    }
}

fn edited(place: &str, value: Value) -> String {
    let mut result: Value = serde_json::from_str(GOOD).unwrap();
    *result.pointer_mut(place).unwrap() = value;
    result.to_string()
}

#[test]
fn a_text_of_a_result_that_cannot_be_read_moves_no_cursor() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("result.json");
    let evil = json!("\u{1b}[2J\u{9b}31m\u{202e}holds");
    is_refused(
        &place,
        &edited("/rounds/0/verdict", evil.clone()),
        "unknown variant `?[2J?31m?holds`",
    );
    is_refused(
        &place,
        &edited("/rounds/0/told/sold", evil.clone()),
        "this is not a result of oversell: ",
    );
    is_refused(&place, &edited("/rounds/0/strategy", evil), "round 1 (?[2J?31m?holds, ");
}

#[test]
fn a_verdict_that_its_own_numbers_contradict_is_refused_with_the_round_and_the_field() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("result.json");
    is_refused(
        &place,
        &edited("/rounds/0/findings/oversold", json!(40)),
        "round 1 (lua@redis, second-instance, repeat 1) disagrees with itself: verdict does not follow",
    );
    is_refused(
        &place,
        &edited("/rounds/0/told/sold", json!(40)),
        "round 1 (lua@redis, ",
    );
    is_refused(
        &place,
        &edited("/as_designed", json!(false)),
        "as_designed is false, and the rounds make it true",
    );
}

#[test]
fn rounds_that_were_kept_one_by_one_are_checked_in_the_same_way() {
    let mut run: Value = serde_json::from_str(GOOD).unwrap();
    let mut round = run["rounds"][0].take();
    (run["rounds"], run["as_designed"]) = (json!([]), Value::Null);
    let lines = |round: &Value| format!("{run}\n{}\n", json!({"place": 0, "planned": 9, "round": round}));
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rounds.jsonl"), lines(&round)).unwrap();
    let read = output(&["report", folder.path().to_str().unwrap()]);
    assert_eq!(read.status.code(), Some(0), "{}", stderr(&read));
    let is_refused = |round: &Value, expected| {
        fs::write(folder.path().join("rounds.jsonl"), lines(round)).unwrap();
        let refused = output(&["report", folder.path().to_str().unwrap()]);
        let said = stderr(&refused);
        assert_eq!(refused.status.code(), Some(64), "{said}");
        assert!(said.contains(expected) && !said.contains('\u{1b}'), "{said:?}");
    };
    round["findings"]["oversold"] = json!(40);
    is_refused(
        &round,
        "round 1 (lua@redis, second-instance, repeat 1) disagrees with itself",
    );
    round["verdict"] = json!("\u{1b}[2J");
    is_refused(&round, "line 2 is no round: unknown variant `?[2J`");
}

#[test]
fn a_folder_of_any_name_moves_no_cursor() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("\u{1b}[2J\u{9b}jürgen");
    fs::create_dir(&run).unwrap();
    fs::write(run.join("result.json"), GOOD).unwrap();
    let place = run.to_str().unwrap();
    for arguments in [
        vec!["report", place],
        vec!["report", place, "--json"],
        vec!["choose", place],
        vec!["report", "\u{1b}[2J"],
    ] {
        let ran = output(&arguments);
        let said = stdout(&ran) + &stderr(&ran);
        assert!(!said.contains(['\u{1b}', '\u{9b}']), "{arguments:?}: {said:?}");
    }
}
