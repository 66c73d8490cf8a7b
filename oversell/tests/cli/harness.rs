//! The program as a user runs it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The longest wait for a reaction of the program, long enough for a busy machine.
pub const SOON: Duration = Duration::from_secs(180);

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
        "OVERSELL_WORKERS_TOKEN",
        "OVERSELL_WORKERS_LISTEN",
        "OVERSELL_URL",
        "OVERSELL_ADMIN_URL",
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

/// Runs the program to its end, with these lines typed into it.
pub fn typed(arguments: &[&str], lines: &str) -> Output {
    let mut child = oversell(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// Returns the stdout of the program.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Returns the stderr of the program.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Starts `up`, and returns the lines that it prints when the shop can be reached.
pub fn up(arguments: &[&str]) -> (Child, Vec<String>) {
    up_as(oversell(&[]), arguments)
}

/// The same for a program that is called in another way.
pub fn up_as(mut program: Command, arguments: &[&str]) -> (Child, Vec<String>) {
    let mut child = program
        .arg("up")
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let said = lines.take_while(|line| !line.starts_with("Ctrl-C")).collect();
    (child, said)
}

/// Returns an address, the token or the URL of a store from the lines of `up` and from the file that they name.
pub fn word(said: &[String], name: &str) -> String {
    let second = |line: &String| line.split_whitespace().nth(1).unwrap().to_owned();
    let line = |name: &str| said.iter().find(|line| line.starts_with(name)).map(second);
    line(name).unwrap_or_else(|| {
        let variable = match name {
            "token" => "ADMIN_TOKEN".to_owned(),
            store => format!("{}_URL", store.to_uppercase()),
        };
        let file = fs::read_to_string(line("file").unwrap()).unwrap();
        let exported = format!("export OVERSELL_{variable}=");
        let value = file.lines().find_map(|line| line.strip_prefix(&exported)).unwrap();
        value.trim_matches('\'').to_owned()
    })
}

/// Starts a server that answers everything with this status and no body. Returns its base URL.
pub fn answering(status: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            let _ = stream.write_all(head.as_bytes());
        }
    });
    format!("http://{address}")
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
