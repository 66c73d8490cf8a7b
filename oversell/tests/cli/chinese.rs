//! The Chinese of the labs: no English sentence is left in what they can print. What each lab does print is looked at where it is played.

use std::fs;
use std::path::PathBuf;

use explore::{Schedule, columns};
use loadtest::report::stories_in;
use loadtest::result::RunResult;
use serde_json::Value;
use workshop::{Language, all};

use crate::readme::root;

/// The fewest words that make a sentence.
const SENTENCE: usize = 3;

/// Returns the English sentences of a text, without code.
pub fn english(text: &str) -> Vec<String> {
    runs_of_words(text, SENTENCE)
}

/// Returns the runs of at least so many English words in a text, without code.
fn runs_of_words(text: &str, least: usize) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join(" | ");
        let is_word = |word: &&str| {
            let letters = word.trim_matches(|c: char| c.is_ascii_punctuation());
            (letters.len() > 1 || letters == "a") && letters.chars().all(|c| c.is_ascii_alphabetic())
        };
        let words: Vec<&str> = prose.split(' ').collect();
        let runs = words.chunk_by(|one, other| is_word(one) && is_word(other));
        found.extend(
            runs.filter(|run| run.iter().all(is_word) && run.len() >= least)
                .map(|run| run.join(" ")),
        );
    }
    found
}

/// Returns that file of the newest folder of results whose name ends so and which has the file.
fn newest(ending: &str, file: &str) -> PathBuf {
    let folders = fs::read_dir(root().join("results")).unwrap();
    let folders = folders.map(|folder| folder.unwrap().path());
    let all = folders.filter(|folder| folder.to_str().unwrap().ends_with(ending));
    let files = all.map(|folder| folder.join(file));
    files.filter(|file| file.exists()).max().unwrap()
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

/// The files whose text a learner reads: what a lab says, what it lets choose, and the progress of its run.
const SPEAKING: [&str; 12] = [
    "explore/asker.rs",
    "lab/again.rs",
    "lab/check.rs",
    "lab/judged.rs",
    "lab/mistake.rs",
    "lab/mod.rs",
    "lab/reveal.rs",
    "lab/run.rs",
    "lab/show.rs",
    "lab/step.rs",
    "progress.rs",
    "result_writer.rs",
];

/// Returns the strings of a file in their order, with 7 in each hole, without those of tests, comments and panics.
fn strings(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]").next().unwrap();
    let is_code = |line: &&str| !line.trim_start().starts_with("//") && !line.contains(".expect(");
    let code = code.lines().filter(is_code).collect::<Vec<_>>().join("\n");
    let mut found = Vec::new();
    let mut rest = code.as_str();
    while let Some((_, after)) = rest.split_once('"') {
        let ends = |(at, _): &(usize, &str)| !after[..*at].ends_with('\\');
        let (end, _) = after.match_indices('"').find(ends).unwrap();
        let (string, more) = (&after[..end], &after[end + 1..]);
        // A line that goes on, and a hole.
        let joined: String = string.split("\\\n").map(str::trim_start).collect();
        let parts = joined
            .split('{')
            .enumerate()
            .map(|(at, part)| match part.split_once('}') {
                Some((_, after)) if at > 0 => format!("7{after}"),
                _ => part.to_owned(),
            });
        found.push(parts.collect::<String>().replace("\\n", "\n"));
        rest = more;
    }
    found
}

/// Whether these words are no English: a product, a command or an option.
fn is_named(words: &str) -> bool {
    ["Redis", "lab"].contains(&words) || words.starts_with("--")
}

/// Returns the English of a file that has no Chinese: neither beside it, nor in the table of sentences.
fn unsaid(source: &str) -> Vec<String> {
    let strings = strings(source);
    let is_chinese = |text: &str| text.chars().any(|c| c > '\u{2E80}');
    let mut unsaid = Vec::new();
    for (at, string) in strings.iter().enumerate() {
        let has_chinese_beside_it = strings.get(at + 1).is_some_and(|next| is_chinese(next));
        // One word is a name, such as that of a command.
        let is_name = !string.trim().contains(' ');
        if is_name || is_chinese(string) || has_chinese_beside_it {
            continue;
        }
        let cells = string.lines().flat_map(|line| line.split("  "));
        let said = cells.map(|cell| Language::Chinese.say(cell.trim()));
        unsaid.extend(
            said.flat_map(|said| runs_of_words(&said, 1))
                .filter(|run| !is_named(run)),
        );
    }
    unsaid
}

#[test]
fn every_english_line_of_a_lab_has_its_chinese() {
    for file in SPEAKING {
        let source = fs::read_to_string(root().join("oversell/src").join(file)).unwrap();
        let unsaid = unsaid(&source);
        assert!(
            unsaid.is_empty(),
            "oversell/src/{file}: {unsaid:#?}: write the Chinese beside it, or into workshop/src/sentences.txt"
        );
    }
    let new = r#"learner.say("You won.", "你赢了。")?; print(&format!("{n} rows are left\n"))?; run("explore")"#;
    assert_eq!(unsaid(new), ["rows are left"]);
}

#[test]
fn kept_timelines_and_schedules_of_labs_have_no_english_sentence_in_chinese() {
    let say = |words: &str| Language::Chinese.say(words);
    let json = fs::read(newest("-matrix", "result.json")).unwrap();
    let mut run = RunResult::parse(&json).unwrap();
    run.rounds
        .retain(|round| strategies().contains(&round.strategy.as_str()));
    let stories = stories_in(&run, &say);
    assert!(stories.lines().count() > 1_000);
    assert!(english(&stories).is_empty(), "{:#?}", english(&stories));

    let json = fs::read(newest("-explore", "shortest/schedules.json")).unwrap();
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
