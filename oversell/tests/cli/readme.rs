//! The commands in the READMEs.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use crate::harness::{interrupt, output, oversell, stderr, stdout, up};

const PROGRAM: &str = "cargo run --release";

/// Options of a run that takes seconds: a small load, and no threat that waits.
const SMALL: &str = "--repeat 1 --buyers 8 --requests 16 --stock 8 --work-ms 1 --instances 2 --quiet \
                     --threat one-buyer,second-instance";

/// The same for a soak, whose rounds have a load of their own.
const FEW: &str = "--strategy lua@redis,decr-undo@redis --threat crowd,second-instance --quiet";

/// Returns the arguments of the lines in a README that call the program.
fn commands(readme: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(readme);
    let text = fs::read_to_string(path).unwrap();
    let blocks = text.split("\n```").skip(1).step_by(2);
    let lines = blocks.flat_map(|block| block.lines().skip(1).map(str::to_owned).collect::<Vec<_>>());
    let called = lines.filter_map(|line| line.strip_prefix(PROGRAM).map(str::to_owned));
    called
        .map(|line| line.trim_start().trim_start_matches("-- ").trim().to_owned())
        .collect()
}

#[test]
fn every_command_of_the_readme_works_in_the_order_in_which_a_reader_meets_it() {
    let commands = commands("README.md");
    assert_eq!(commands, self::commands("README.zh-CN.md"), "both say the same");
    assert_eq!(
        commands,
        [
            "demo",
            "",
            "--all",
            "strategies",
            "strategies token",
            "--soak 200000 --seed 7",
            "up"
        ],
        "a new command needs to be tried here"
    );
    let results = tempfile::tempdir().unwrap();
    for command in commands {
        let is_run = command.is_empty() || command.starts_with("--");
        let line = if command.starts_with("--soak") {
            format!("{command} {FEW}").replace("200000", "200")
        } else if is_run {
            format!("{command} {SMALL}")
        } else {
            command.clone()
        };
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
        let ran = oversell(&arguments).stdin(Stdio::null()).output().unwrap();
        // So small a load need not catch everybody: that is no failure of the command.
        let expected: &[i32] = if is_run { &[0, 2] } else { &[0] };
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
