//! The commands of the READMEs, and what is generated in them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::harness::{interrupt, output, oversell, stderr, stdout, up};

const PROGRAM: &str = "cargo run --release";

/// Options of a run that takes seconds: a small load, and no threat that waits.
const SMALL: &str = "--repeat 1 --buyers 8 --requests 16 --stock 8 --work-ms 1 --instances 2 --quiet \
                     --threat one-buyer,second-instance";

/// The same for a soak, whose rounds have a load of their own.
const FEW: &str = "--strategy lua@redis,decr-undo@redis --threat crowd,second-instance --quiet";

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the arguments of the lines in a README that call the program.
pub fn commands(readme: &str) -> Vec<String> {
    let path = root().join(readme);
    let text = fs::read_to_string(path).unwrap();
    let blocks = text.split("\n```").skip(1).step_by(2);
    let lines = blocks.flat_map(|block| block.lines().skip(1).map(str::to_owned).collect::<Vec<_>>());
    let called = lines.filter_map(|line| line.strip_prefix(PROGRAM).map(str::to_owned));
    let without_comment = called.map(|line| line.split(" #").next().unwrap_or_default().to_owned());
    without_comment
        .map(|line| line.trim_start().trim_start_matches("-- ").trim().to_owned())
        .collect()
}

#[test]
fn every_command_of_the_readme_works_in_the_order_in_which_a_reader_meets_it() {
    let mut commands = commands("README.md");
    assert_eq!(commands, self::commands("README.zh-CN.md"), "both say the same");
    commands.extend(self::commands("docs/runs.md"));
    commands.extend(self::commands("docs/interleavings.md"));
    assert_eq!(
        commands,
        [
            "demo",
            "",
            "choose",
            "choose --stores sql --survive crash,pause,restart",
            "strategies token",
            "lab",
            "up",
            "--all",
            "--soak 200000 --seed 7",
            "explore none@redis",
            "explore token@redis --save token.json",
            "replay token.json",
            "explore lua@redis --preemptions all",
            "explore token-get-del@redis --purchases 3 --random 500 --seed 7",
        ],
        "a new command needs to be tried here"
    );
    let results = tempfile::tempdir().unwrap();
    // The next test plays all strategies, beside this one.
    for command in commands.iter().filter(|command| *command != "--all") {
        let is_run = command.is_empty() || command.starts_with("--");
        let line = if command.starts_with("--soak") {
            format!("{command} {FEW}").replace("200000", "200")
        } else if is_run {
            format!("{command} {SMALL}")
        } else {
            command.clone()
        };
        let line = line.replace("token.json", &format!("{}/token.json", results.path().display()));
        let mut arguments: Vec<&str> = line.split_whitespace().collect();
        if is_run {
            arguments.extend(["--results", results.path().to_str().unwrap()]);
        }
        if command == "up" {
            let (mut child, said) = up(&[]);
            assert!(said.len() > 10, "{said:?}");
            interrupt(&child);
            assert_eq!(child.wait().unwrap().code(), Some(130));
            continue;
        }
        let ran = oversell(&arguments)
            .current_dir(root())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        // So small a load need not catch everybody: that is no failure of the command.
        let expected: &[i32] = match command.split(' ').next() {
            _ if is_run => &[0, 2],
            Some("explore") if !command.contains("lua@") => &[1],
            _ => &[0],
        };
        let status = ran.status.code().unwrap();
        assert!(
            expected.contains(&status),
            "{command}: {}{}",
            stdout(&ran),
            stderr(&ran)
        );
        assert!(!stdout(&ran).is_empty(), "{command}");
    }
}

#[test]
fn the_command_of_the_readme_that_plays_every_strategy_works() {
    let results = tempfile::tempdir().unwrap();
    // One threat: some two hundred strategies are enough.
    let line = format!("--all {SMALL}").replace(",second-instance", "");
    let mut arguments: Vec<&str> = line.split_whitespace().collect();
    arguments.extend(["--results", results.path().to_str().unwrap()]);
    let ran = output(&arguments);
    let status = ran.status.code();
    assert!([Some(0), Some(2)].contains(&status), "{}{}", stdout(&ran), stderr(&ran));
    assert!(stdout(&ran).contains("lua@cluster"), "{}", stdout(&ran));
}

#[test]
fn every_command_that_help_names_explains_itself() {
    let help = stdout(&output(&["--help"]));
    let (_, rest) = help.split_once("Commands:\n").unwrap();
    let (listed, _) = rest.split_once("\n\n").unwrap();
    let names = listed
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names: Vec<&str> = names.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"run") && names.contains(&"demo"), "{names:?}");
    for name in names.into_iter().filter(|name| *name != "help") {
        let explained = output(&[name, "--help"]);
        assert_eq!(explained.status.code(), Some(0), "{name}");
        assert!(stdout(&explained).contains("Usage: "), "{name}");
    }
}

/// The newest run of that part of the matrix, as `.ci/readme` chooses it.
fn newest(part: &str) -> String {
    let runs = fs::read_dir(root().join("results")).unwrap();
    let names = runs.map(|run| run.unwrap().file_name().into_string().unwrap());
    format!("results/{}", names.filter(|name| name.ends_with(part)).max().unwrap())
}

#[test]
fn the_generated_parts_of_the_documents_are_those_of_the_newest_matrix() {
    let copy = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(
        root().canonicalize().unwrap().join("results"),
        copy.path().join("results"),
    )
    .unwrap();
    fs::create_dir_all(copy.path().join("docs/workshop/zh-CN")).unwrap();
    let run = newest("-matrix");
    let report = |run: &str, arguments: &[&str]| {
        let ran = oversell(&[&["report", run], arguments].concat())
            .current_dir(copy.path())
            .output()
            .unwrap();
        assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    };
    for document in [
        "README.md",
        "README.zh-CN.md",
        "docs/matrix.md",
        "docs/matrix-2.md",
        "docs/matrix-3.md",
        "docs/matrix-4.md",
        "docs/strategies.md",
        "docs/workshop/README.md",
        "docs/workshop/zh-CN/README.md",
    ] {
        let run = match document.split_once("matrix-") {
            Some((_, part)) => newest(&format!("-matrix-{}", part.trim_end_matches(".md"))),
            None => run.clone(),
        };
        let committed = fs::read_to_string(root().join(document)).unwrap();
        fs::write(copy.path().join(document), &committed).unwrap();
        report(&run, &["--into", document]);
        let generated = fs::read_to_string(copy.path().join(document)).unwrap();
        assert!(generated == committed, "{document} is not up to date: run .ci/readme");
    }
    report(&run, &["--charts", "charts"]);
    for chart in ["oversold.svg", "cost.svg"] {
        let committed = fs::read_to_string(root().join("docs").join(chart)).unwrap();
        let drawn = fs::read_to_string(copy.path().join("charts").join(chart)).unwrap();
        assert!(drawn == committed, "docs/{chart} is not up to date: run .ci/readme");
    }
}

#[test]
fn the_first_screen_of_the_readme_has_a_command_and_a_table() {
    let text = fs::read_to_string(root().join("README.md")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let first = |wanted: &str| lines.iter().position(|line| line.starts_with(wanted)).unwrap();
    assert!(first(PROGRAM) < 20);
    assert!(first("| strategy ") < first("## Where to go from here"));
    assert!(first("## Where to go from here") <= 40);
    assert!(lines.len() <= 200);
}

#[test]
fn choose_answers_from_the_newest_matrix_and_from_a_named_result() {
    let run = newest("-matrix");
    let ask = |arguments: &[&str]| oversell(arguments).current_dir(root()).output().unwrap();
    let answered = ask(&["choose", "--stores", "sql", "--json"]);
    assert_eq!(answered.status.code(), Some(0), "{}", stderr(&answered));
    let answer: serde_json::Value = serde_json::from_str(&stdout(&answered)).unwrap();
    assert_eq!(
        answer["results"],
        serde_json::json!([run, newest("-matrix-2"), newest("-matrix-3"), newest("-matrix-4")])
    );
    let holds = answer["choices"][0]["holds"].as_array().unwrap();
    let named = |name: &str| holds.iter().find(|candidate| candidate["strategy"] == name);
    assert!(
        named("conditional@sql").is_some() && named("token@sql").is_none(),
        "{holds:?}"
    );
    assert_eq!(named("fenced@sql").unwrap()["also_needs"], serde_json::json!(["redis"]));
    let second = stdout(&ask(&["choose", "--stores", "pg"]));
    assert!(second.contains("conditional@pg"), "{second}");
    let named = ask(&["choose", "--stores", "redis", "--survive", "failover", &run]);
    // Redis loses what it had confirmed: no strategy can hold.
    assert_eq!(named.status.code(), Some(1), "{}", stdout(&named));
    assert!(
        stdout(&named).contains("Broken only by their store"),
        "{}",
        stdout(&named)
    );
    for wrong in [&["choose", "--survive", "crahs"][..], &["choose", "/nowhere"]] {
        assert_eq!(ask(wrong).status.code(), Some(64), "{wrong:?}");
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let lost = oversell(&["choose"]).current_dir(elsewhere.path()).output().unwrap();
    assert_eq!(lost.status.code(), Some(64));
    assert!(stderr(&lost).contains("name a result"), "{}", stderr(&lost));
}
