//! The shop in Python, put on trial by the commands of its README.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::harness::{interrupt, stderr, stdout, up};

/// The ports of the README, without their last digit.
const PORTS: &str = ":700";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the blocks of shell commands in the README, in their order.
fn commands() -> Vec<String> {
    let readme = fs::read_to_string(root().join("examples/python/README.md")).unwrap();
    let blocks = readme.split("```sh\n").skip(1);
    blocks
        .map(|block| block.split("```").next().unwrap().to_owned())
        .collect()
}

/// Returns the first digits of three free ports, such as `:1234` for 12340, 12341 and 12342.
fn free_ports() -> String {
    let are_free = |tens: &u16| (0..3).all(|last| TcpListener::bind(("127.0.0.1", tens * 10 + last)).is_ok());
    // Each test process begins somewhere else, below the ports that the system hands out.
    let begin = 1_100 + (std::process::id() % 1_000) as u16;
    let tens = (begin..begin + 1_000).find(are_free).unwrap();
    format!(":{tens}")
}

/// Types the commands of the README into a shell, after the settings line of `up`, with a shorter run.
fn typed(settings: &str, results: &Path) -> Output {
    let [first, rest @ ..] = &commands()[..] else {
        panic!("the README has no commands");
    };
    assert_eq!(first, "cargo run --release -- up\n");
    let run = format!(
        "'{}' run --repeat 2 --json --results '{}' ",
        env!("CARGO_BIN_EXE_oversell"),
        results.display()
    );
    let rest = rest.concat().replace("cargo run --release -- run ", &run);
    // With `set -m`, as in a terminal, `kill %1` reaches a whole job, and so does the trap when the run fails.
    let trap = "trap 'for job in $(jobs -p); do kill -- -$job; done 2> /dev/null' EXIT";
    let script = format!("set -m; {trap}\n{settings}\n{}", rest.replace(PORTS, &free_ports()));
    let script = script.replace("\nkill %1 %2", "\nstatus=$?\nkill %1 %2; exit $status");
    let mut bash = Command::new("bash");
    bash.args(["-c", &script]).current_dir(root());
    bash.output().unwrap()
}

/// Returns strategy, threat and verdict of each round.
fn verdicts(run: &Value) -> Vec<(String, String, String)> {
    let text = |round: &Value, field: &str| round[field].as_str().unwrap().to_owned();
    let rounds = run["rounds"].as_array().unwrap().iter();
    rounds
        .map(|round| (text(round, "strategy"), text(round, "threat"), text(round, "verdict")))
        .collect()
}

#[test]
fn the_readme_of_the_shop_in_python_puts_it_on_trial() {
    let python = Command::new("python3").arg("--version").output();
    assert!(
        python.is_ok_and(|python| python.status.success()),
        "there is no python3 here, and the shop in examples/python is tried with it: install python3"
    );
    let (mut shop, said) = up(&[]);
    let settings = said.iter().find(|line| line.trim_start().starts_with(". ")).unwrap();
    let results = tempfile::tempdir().unwrap();
    let ran = typed(settings, results.path());
    interrupt(&shop);
    shop.wait().unwrap();

    assert_eq!(ran.status.code(), Some(0), "{}{}", stdout(&ran), stderr(&ran));
    let run: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let found = verdicts(&run);
    let expected = [
        ("read-then-write@redis", "one-buyer", "holds"),
        ("script@redis", "one-buyer", "holds"),
        ("read-then-write@redis", "second-instance", "violated"),
        ("script@redis", "second-instance", "holds"),
        ("read-then-write@redis", "crashed-holder", "violated"),
        ("script@redis", "crashed-holder", "holds"),
    ];
    let expected = expected.map(|(strategy, threat, verdict)| (strategy.into(), threat.into(), verdict.into()));
    assert_eq!(found, [expected.clone(), expected].concat());
    let naive = run["rounds"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|round| round["verdict"] == "violated");
    for round in naive {
        assert!(round["findings"]["oversold"].as_i64().unwrap() > 0, "{round}");
    }
}
