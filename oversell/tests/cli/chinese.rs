//! The Chinese of the labs: no English sentence is left in what they print.

use std::fs;
use std::path::PathBuf;

use explore::{Schedule, columns};
use loadtest::report::stories_in;
use loadtest::result::RunResult;
use serde_json::Value;
use workshop::{Language, all};

use crate::harness::{output, stderr, stdout};
use crate::readme::root;

/// The fewest words that make a sentence.
const SENTENCE: usize = 3;

/// Returns the English sentences of a text, without code.
fn english(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" | ");
        let is_word = |word: &&str| {
            let letters = word.trim_matches(|c: char| c.is_ascii_punctuation());
            !letters.is_empty() && letters.chars().all(|c| c.is_ascii_alphabetic()) && *word != "|"
        };
        let words: Vec<&str> = prose.split(' ').collect();
        let runs = words.chunk_by(|one, other| is_word(one) && is_word(other));
        found.extend(runs.filter(|run| run.len() >= SENTENCE).map(|run| run.join(" ")));
    }
    found
}

/// Returns the newest folder of results whose name ends so.
fn newest(ending: &str) -> PathBuf {
    let folders = fs::read_dir(root().join("results")).unwrap();
    let folders = folders.map(|folder| folder.unwrap().path());
    let all = folders.filter(|folder| folder.to_str().unwrap().ends_with(ending));
    all.max().unwrap()
}

/// Returns the strategies of all labs.
fn strategies() -> Vec<&'static str> {
    let labs = all().unwrap().iter();
    let plays = labs.clone().filter_map(|lab| lab.settings.play.as_ref());
    let schedules = labs.filter_map(|lab| lab.settings.schedule.as_ref());
    let schedules = schedules.map(|schedule| schedule.strategy.as_str());
    plays.flat_map(|play| play.strategies()).chain(schedules).collect()
}

#[test]
fn an_english_sentence_is_found_and_names_and_code_are_none() {
    assert_eq!(english("库存 no buyer came. 完"), ["no buyer came."]);
    assert!(english("## set-px@redis，slow-holder，2 个实例：`update store set num` Redis 的 lock").is_empty());
}

#[test]
fn a_lab_prints_no_english_sentence_in_chinese() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    for words in [&["predict", "1", "c"][..], &["run", "1"], &["reveal", "1"]] {
        let arguments = [&["lab"], words, &["--lang", "zh-CN", "--folder", folder]].concat();
        let ran = output(&arguments);
        assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
        let said = stdout(&ran);
        assert!(english(&said).is_empty(), "{:?} in\n{said}", english(&said));
    }
}

#[test]
fn kept_timelines_and_schedules_of_labs_have_no_english_sentence_in_chinese() {
    let say = |words: &str| Language::Chinese.say(words);
    let json = fs::read(newest("-matrix").join("result.json")).unwrap();
    let mut run = RunResult::parse(&json).unwrap();
    run.rounds
        .retain(|round| strategies().contains(&round.strategy.as_str()));
    let stories = stories_in(&run, &say);
    assert!(stories.lines().count() > 1_000);
    assert!(english(&stories).is_empty(), "{:#?}", english(&stories));

    let json = fs::read(newest("-explore").join("shortest/schedules.json")).unwrap();
    let rows: Vec<Value> = serde_json::from_slice(&json).unwrap();
    let kept = rows
        .iter()
        .filter(|row| strategies().contains(&row["strategy"].as_str().unwrap()));
    let kept = kept.map(|row| &row["shortest"]).filter(|shortest| !shortest.is_null());
    let mut shown = 0;
    for schedule in kept {
        let schedule = Schedule::parse(schedule.to_string().as_bytes()).unwrap();
        for cell in columns(&schedule).lines().flat_map(|line| line.split("  ")) {
            let said = say(cell.trim());
            assert!(english(&said).is_empty(), "{said}");
        }
        shown += 1;
    }
    assert!(shown > 10, "{shown}");
}
