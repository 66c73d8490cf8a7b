//! The labs of the workshop, as a learner plays them.

use std::fs;
use std::path::Path;
use std::process::Output;

use workshop::{Lab, Language, all};

use crate::chinese::english;
use crate::harness::{oversell, stderr, stdout, typed};
use crate::readme::commands;

/// Calls a command of a lab, with its progress in this folder.
fn lab(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = oversell(&["lab"]);
    command.args(arguments).arg("--folder").arg(folder).output().unwrap()
}

#[track_caller]
fn status(ran: &Output, expected: i32) -> String {
    let said = format!("{}{}", stdout(ran), stderr(ran));
    assert_eq!(ran.status.code(), Some(expected), "{said}");
    said
}

/// The labs in which a holder asks whether the lock is still its own, with the question as a run's timeline shows it.
const QUESTIONS: [(usize, &str); 2] = [(7, "get: "), (9, "is-held: ")];

/// Walks through labs: the right answer, the run, and the reveal.
fn walk(wanted: impl Fn(&Lab) -> bool) {
    let folder = tempfile::tempdir().unwrap();
    for one in all().unwrap().iter().filter(|lab| wanted(lab)) {
        let number = one.nn();
        let page = one.page(Language::English);
        let started = status(&lab(folder.path(), &["start", &number]), 0);
        assert!(
            started.contains(&page.situation) && !started.contains("](../"),
            "{started}"
        );
        status(
            &lab(folder.path(), &["predict", &number, &one.settings.right.to_string()]),
            0,
        );
        let ran = chinese(folder.path(), &["run", &number]);
        let said = format!("{}{}", stdout(&ran), stderr(&ran));
        let unexpected: Vec<&str> = said.lines().filter(|line| line.starts_with('✗')).collect();
        // How many times as fast one strategy is as another one depends on what else the machine does.
        let is_of_speed = |line: &&str| line.contains("每秒成交的件数");
        assert!(unexpected.iter().all(is_of_speed), "{said}");
        status(&ran, i32::from(!unexpected.is_empty()));
        let revealed = status(&lab(folder.path(), &["reveal", &number]), 0);
        let right = one.answer(one.settings.right, Language::English).unwrap();
        assert!(
            revealed.contains(&format!("You said {}) {}", right.letter, right.text)),
            "{revealed}"
        );
        let last = page.check.lines().next().unwrap();
        assert!(revealed.contains(last), "{revealed}");
        let (timelines, shortest) = revealed.split_once("The shortest of these").unzip();
        assert_eq!(shortest.is_some(), one.settings.schedule.is_some(), "{revealed}");
        let asked = QUESTIONS.iter().find(|(number, _)| *number == one.number);
        if let Some((_, question)) = asked {
            assert!(timelines.unwrap_or(&revealed).contains(question), "{revealed}");
        }
        let listed = stdout(&lab(folder.path(), &[]));
        assert!(
            listed.contains(&format!("{}  [predicted rightly, run]", page.title)),
            "{listed}"
        );
        for words in [
            &["reveal", &number][..],
            &["start", &number],
            &["hint", &number],
            &["list"],
        ] {
            status(&chinese(folder.path(), words), 0);
        }
    }
}

/// Calls a command of a lab in Chinese, and looks for English sentences in whatever it prints.
#[track_caller]
fn chinese(folder: &Path, arguments: &[&str]) -> Output {
    let ran = lab(folder, &[arguments, &["--lang", "zh-CN"]].concat());
    no_english(&ran);
    ran
}

#[track_caller]
fn no_english(ran: &Output) {
    // A command is shown as it is called, and code as it is.
    let said = format!("{}{}", stdout(ran), stderr(ran));
    let prose: String = said.split("```").step_by(2).collect();
    let lines: Vec<&str> = prose.lines().filter(|line| !line.starts_with("$ ")).collect();
    let found = english(&lines.join("\n"));
    assert!(found.is_empty(), "{found:?} in\n{said}");
}

/// Whether a lab ends with a sale that is stuck, which takes longest to see.
fn is_stuck(lab: &Lab) -> bool {
    lab.settings
        .play
        .as_ref()
        .is_some_and(|play| play.finds.as_deref() == Some("stuck"))
}

#[test]
fn labs_of_a_stuck_sale_go_as_their_pages_say() {
    walk(is_stuck);
}

#[test]
fn the_other_labs_with_an_odd_number_go_as_their_pages_say() {
    walk(|lab| !is_stuck(lab) && lab.number % 2 == 1);
}

#[test]
fn the_other_labs_with_an_even_number_go_as_their_pages_say() {
    walk(|lab| !is_stuck(lab) && lab.number % 2 == 0);
}

#[test]
fn a_prediction_comes_before_the_run_and_stays() {
    let folder = tempfile::tempdir().unwrap();
    let lab = |arguments: &[&str]| lab(folder.path(), arguments);
    assert!(status(&lab(&["run", "1"]), 64).contains("say first what you expect"));
    assert!(status(&lab(&["reveal", "1"]), 64).contains("run it first"));
    assert!(status(&lab(&["predict", "1"]), 0).contains("Did the shop oversell?"));
    assert!(status(&lab(&["predict", "1", "x"]), 64).contains("a, b, c, d"));
    status(&lab(&["predict", "1", "a"]), 0);
    assert!(status(&lab(&["predict", "1", "c"]), 64).contains("you have chosen a"));
    assert!(status(&lab(&["predict", "99"]), 64).contains("there is no lab 99"));
    status(&lab(&["reset", "1"]), 0);
    status(&lab(&["predict", "1", "c"]), 0);
}

#[test]
fn hints_come_one_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let hints = &all().unwrap()[0].page(Language::English).hints;
    for hint in hints.iter().chain(&hints[..1]) {
        assert!(status(&lab(folder.path(), &["hint", "1"]), 0).contains(hint));
    }
}

#[test]
fn texts_are_there_in_chinese() {
    let folder = tempfile::tempdir().unwrap();
    let page = all().unwrap()[0].page(Language::Chinese);
    let said = status(&lab(folder.path(), &["start", "1", "--lang", "zh-CN"]), 0);
    assert!(said.contains(&page.title) && said.contains("下一步"), "{said}");
}

/// Known-bad solutions, each with the words that name its mistake; and good ones.
const SOLUTIONS: &[(&str, &str, &str)] = &[
    ("10", "lost-update@sql", "Read, check and write are three steps"),
    ("10", "snapshot-before-lock@sql", "a read under it is old"),
    ("10", "mutex@sql", "Two purchases are inside at once"),
    (
        "05",
        "unlock-before-write@redis",
        "The lock is released before the write",
    ),
    ("05", "token@redis", "A lease ends by the clock"),
    ("11", "ignored-result@sql", "An update that finds no row is no error"),
    ("03", "setnx@redis", "A lock in a store does not end with its holder"),
    ("18", "dual-write@redis+sql", "Between two writes a process can die"),
    ("17", "decr-undo@redis", "No answer is not a no"),
    ("17", "lua@redis", ""),
    ("10", "conditional@sql", ""),
    ("05", "fenced@redis", ""),
];

#[test]
fn a_check_names_the_mistake_of_a_bad_solution_and_passes_a_good_one() {
    let folder = tempfile::tempdir().unwrap();
    for (number, strategy, mistake) in SOLUTIONS {
        let checked = lab(folder.path(), &["check", number, strategy]);
        let said = status(&checked, i32::from(!mistake.is_empty()));
        assert!(said.contains(mistake), "{strategy}: {said}");
        let passes = said.contains(&format!("{strategy} passes lab {number}"));
        assert_eq!(passes, mistake.is_empty(), "{strategy}: {said}");
    }
    let listed = stdout(&lab(folder.path(), &[]));
    assert!(listed.contains("[checked: lua@redis]"), "{listed}");
    assert!(status(&lab(folder.path(), &["check", "10", "nothing@sql"]), 64).contains("nothing"));
    let said = status(&lab(folder.path(), &["check", "18", "lua@redis"]), 2);
    assert!(said.contains("does not concern this strategy"), "{said}");
}

/// Lets a learner be the scheduler of a lab, with these choices.
fn step(number: &str, choices: &str) -> Output {
    step_in(Language::English, number, choices)
}

fn step_in(language: Language, number: &str, choices: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let choices: String = choices.chars().map(|choice| format!("{choice}\n")).collect();
    let arguments = ["lab", "step", number, "--folder", folder, "--lang", language.tag()];
    typed(&arguments, &choices)
}

/// Plays each lab that has steps, and returns how many these are.
fn stepped_in_chinese(choices: &str) -> usize {
    let with_steps = all().unwrap().iter().filter(|lab| lab.settings.schedule.is_some());
    let played = with_steps.map(|lab| no_english(&step_in(Language::Chinese, &lab.nn(), choices)));
    played.count()
}

#[test]
fn the_steps_of_every_lab_are_in_chinese() {
    // No number, then the last of many choices, and then whatever A does: of each lab every choice is seen, and a verdict.
    let choices = format!("x9876543{}", "1".repeat(40));
    assert!(stepped_in_chinese(&choices) > 10);
}

#[test]
fn a_learner_who_is_the_scheduler_finds_the_oversell_and_then_sees_the_shortest_way() {
    // A reads and works, then B does all, and then A writes.
    let said = status(&step("1", "112221"), 0);
    assert!(
        said.contains("You did it. The shortest way") && said.contains("oversold 1"),
        "{said}"
    );
    // One after the other: that sells one unit to one buyer.
    let said = status(&step("1", "1111111"), 1);
    assert!(said.contains("No promise is broken this time"), "{said}");
    let said = status(&step("1", "11"), 1);
    assert!(said.contains("Ended before all purchases were over"), "{said}");
    // A takes the lock and is killed, and B waits for it in vain.
    let said = status(&step("3", "131111"), 0);
    assert!(
        said.contains("-- the process of A is killed --") && said.contains("stuck 1"),
        "{said}"
    );
}

#[test]
fn what_a_lab_refuses_is_told_in_chinese() {
    let folder = tempfile::tempdir().unwrap();
    for words in [
        &["run", "1"][..],
        &["reveal", "1"],
        &["predict", "1", "x"],
        &["predict", "99"],
        &["step", "22"],
        &["check", "22", "lua@redis"],
        &["check", "1", "luaa@redis"],
        &["check", "1", "nothing-at-all"],
        &["check", "1", "token-@pg"],
        &["check", "18", "lua@redis"],
    ] {
        let ran = chinese(folder.path(), words);
        assert_ne!(ran.status.code(), Some(0), "{words:?}");
    }
}

#[test]
fn a_check_is_told_in_chinese() {
    let folder = tempfile::tempdir().unwrap();
    for (strategy, expected) in [("lost-update@sql", 1), ("conditional@sql", 0)] {
        status(&chinese(folder.path(), &["check", "10", strategy]), expected);
    }
}

#[test]
fn slides_are_one_page_in_each_language() {
    for (tag, title) in [("en", "No lock"), ("zh-CN", "秒杀为什么会超卖")] {
        let folder = tempfile::tempdir().unwrap();
        let page = status(&lab(folder.path(), &["slides", "--short", "--lang", tag]), 0);
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains(title), "{page}");
        assert!(
            fs::read_dir(folder.path()).unwrap().next().is_none(),
            "slides need no folder"
        );
    }
}

#[test]
fn the_commands_of_the_workshop_s_pages_work_in_their_order() {
    let readme = commands("docs/workshop/README.md");
    assert_eq!(readme, commands("docs/workshop/zh-CN/README.md"));
    assert_eq!(
        readme,
        ["lab", "lab start 1", "lab predict 1 a", "lab run 1", "lab reveal 1"],
        "a new command needs to be tried here"
    );
    let instructor = commands("docs/workshop/instructor.md");
    let slides = [
        "lab slides > slides.html",
        "lab slides --short --lang zh-CN > slides-zh.html",
    ];
    // `doctor` has a test of its own.
    assert_eq!(instructor, [&["doctor --workshop"][..], &slides[..]].concat());
    let folder = tempfile::tempdir().unwrap();
    for command in readme.iter().map(String::as_str).chain(slides) {
        let words: Vec<_> = command.split(" >").next().unwrap().split(' ').collect();
        let ran = oversell(&words).current_dir(folder.path()).output().unwrap();
        assert!(!status(&ran, 0).is_empty(), "{command}");
    }
}
