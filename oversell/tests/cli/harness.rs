//! The program as a user runs it, with its results in a folder of the test's own.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// How long the program may take to react: generous, so that a busy machine fails no test.
pub const SOON: Duration = Duration::from_secs(60);

/// A load of a run: small enough for a test, large enough that a race is lost in every round.
pub const SMALL: [&str; 10] = [
    "--buyers",
    "16",
    "--requests",
    "32",
    "--stock",
    "16",
    "--repeat",
    "1",
    "--work-ms",
    "2",
];

/// The program, not yet started.
pub fn oversell(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_oversell"));
    command.args(arguments).stdin(Stdio::null());
    for name in [
        "OVERSELL_REDIS_URL",
        "OVERSELL_SQL_URL",
        "OVERSELL_SQL_2_URL",
        "OVERSELL_ADMIN_TOKEN",
        "OVERSELL_LOG",
    ] {
        command.env_remove(name);
    }
    command
}

/// Runs the program to its end.
pub fn output(arguments: &[&str]) -> Output {
    oversell(arguments).output().unwrap()
}

/// What the program wrote to stdout.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What the program wrote to stderr.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Starts `up` and waits until it has said how to reach the shop; the lines that it said.
pub fn up(arguments: &[&str]) -> (Child, Vec<String>) {
    let mut child = oversell(&[&["up"], arguments].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let said = lines.take_while(|line| !line.starts_with("Ctrl-C")).collect();
    (child, said)
}

/// Asks a child to stop, as Ctrl-C does.
pub fn interrupt(child: &Child) {
    let signalled = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(signalled.unwrap().success());
}

/// Polls until `found` has something, or the test has waited long enough.
pub fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + SOON;
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < deadline, "waited for {what} for {SOON:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The one `result.json` below a results folder, once it is there.
pub fn result_json(results: &Path) -> Option<PathBuf> {
    let run = fs::read_dir(results).ok()?.next()?.ok()?;
    let path = run.path().join("result.json");
    path.exists().then_some(path)
}

/// The `rounds.jsonl` below a results folder, once a round is in it.
pub fn rounds_jsonl(results: &Path) -> Option<PathBuf> {
    let run = fs::read_dir(results).ok()?.next()?.ok()?;
    let path = run.path().join("rounds.jsonl");
    // The first line is about the run.
    let lines = fs::read_to_string(&path).ok()?.matches('\n').count();
    (lines > 1).then_some(path)
}

/// The processes that descend from `parent`, by their command lines.
pub fn descendants(parent: u32) -> Vec<u32> {
    let listed = Command::new("ps").args(["-eo", "pid=,ppid="]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let pairs: Vec<(u32, u32)> = listed
        .lines()
        .map(|line| {
            let mut numbers = line.split_whitespace().map(|number| number.parse().unwrap());
            (numbers.next().unwrap(), numbers.next().unwrap())
        })
        .collect();
    let mut found = vec![parent];
    let mut at = 0;
    while at < found.len() {
        let children = pairs.iter().filter(|(_, ppid)| *ppid == found[at]).map(|(pid, _)| *pid);
        let children: Vec<u32> = children.collect();
        found.extend(children);
        at += 1;
    }
    found.split_off(1)
}

/// Whether a process still runs.
pub fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit_once(") ").map(|(_, rest)| rest.starts_with('Z'));
    state.is_some_and(|is_dead| !is_dead)
}
