//! Load that comes from several processes, as it would from several machines.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::harness::{descendants, output, oversell, result_json, stderr};

const TOKEN: &str = "known-to-the-workers-alone";

const ADMIN_TOKEN: &str = "known-to-the-shop-as-well";

/// Plays the crowd of one round with so many workers, or with none, and returns the result.
fn run(workers: usize) -> Value {
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let at = free_address().to_string();
    let line = "run --json --strategy none@redis,lua@redis --threat second-instance --instances 2 --repeat 1 --buyers 12 --requests 181 \
                --stock 45 --items 2";
    let mut arguments: Vec<&str> = line.split_whitespace().collect();
    arguments.extend(["--results", folder]);
    let number = workers.to_string();
    if workers > 0 {
        arguments.extend(["--workers", &number, "--workers-listen", &at]);
    }
    let mut command = oversell(&arguments);
    let run = command
        .env("OVERSELL_WORKERS_TOKEN", TOKEN)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let url = format!("http://{at}");
    let children: Vec<Child> = (0..workers).map(|_| worker(&url, TOKEN)).collect();
    let ran = run.wait_with_output().unwrap();
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    for mut worker in children {
        assert_eq!(worker.wait().unwrap().code(), Some(0));
    }
    serde_json::from_slice(&ran.stdout).unwrap()
}

fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

fn worker(run: &str, token: &str) -> Child {
    let mut worker = oversell(&["run", "--load-only", run]);
    worker.env("OVERSELL_WORKERS_TOKEN", token).spawn().unwrap()
}

/// Asks the run for a share of the load, as a worker with this token does, and returns the status of the answer.
fn asks_for_a_share(process: &mut Child, at: SocketAddr, token: &str) -> String {
    let mut run = loop {
        match TcpStream::connect(at) {
            Ok(run) => break run,
            Err(_) if process.try_wait().unwrap().is_none() => std::thread::yield_now(),
            Err(error) => panic!("the run ended before anybody could ask: {error}"),
        }
    };
    let head =
        format!("POST /shares HTTP/1.1\r\nHost: {at}\r\nAuthorization: Bearer {token}\r\nContent-Length: 0\r\n\r\n");
    run.write_all(head.as_bytes()).unwrap();
    let mut status = [0; 12];
    run.read_exact(&mut status).unwrap();
    String::from_utf8(status.to_vec()).unwrap().split_off("HTTP/1.1 ".len())
}

/// Starts a run of one round with so many workers.
fn run_with_workers(workers: &str, at: SocketAddr, results: &Path) -> Command {
    let line = "run --strategy lua@redis --threat second-instance --instances 2 --repeat 1";
    let arguments: Vec<&str> = line.split_whitespace().collect();
    let mut run = oversell(&arguments);
    run.args(["--workers", workers, "--workers-listen", &at.to_string()]);
    run.arg("--results").arg(results).stderr(Stdio::piped());
    run
}

#[test]
fn a_run_does_not_wait_long_for_a_worker_that_took_its_share_and_died() {
    let results = tempfile::tempdir().unwrap();
    let at = free_address();
    let mut run = run_with_workers("2", at, results.path());
    let mut run = run.env("OVERSELL_WORKERS_TOKEN", TOKEN).spawn().unwrap();
    let mut other = worker(&format!("http://{at}"), TOKEN);
    assert_eq!(asks_for_a_share(&mut run, at, TOKEN), "200");
    let ran = run.wait_with_output().unwrap();
    other.wait().unwrap();
    let said = stderr(&ran);
    let is_said = said.contains("1 workers did not come back within ");
    assert!(is_said && !said.contains("within 600 s"), "{said}");
}

#[test]
fn three_workers_ask_for_what_one_of_three_times_the_size_asks_for_and_hear_the_same() {
    let [alone, shared] = [run(0), run(3)];
    for run in [&alone, &shared] {
        let [none, lua] = run["rounds"].as_array().unwrap().as_slice() else {
            panic!("{run}");
        };
        assert!(none["findings"]["oversold"].as_i64().unwrap() > 0, "{none}");
        assert_eq!(lua["verdict"], "holds", "{lua}");
        assert_eq!(
            (&lua["told"]["sold"], &lua["facts"]["recorded"]),
            (&90.into(), &90.into()),
            "{lua}"
        );
        // Two more buyers came to each item afterwards, one of them at the end of the run.
        assert_eq!(lua["told"]["sold_out"], 95, "{lua}");
    }
}

#[test]
fn a_shop_that_asks_for_a_share_with_its_admin_token_is_refused() {
    let results = tempfile::tempdir().unwrap();
    let at = free_address();
    let mut run = run_with_workers("1", at, results.path());
    run.env("OVERSELL_ADMIN_TOKEN", ADMIN_TOKEN)
        .env("OVERSELL_WORKERS_TOKEN", TOKEN);
    let mut run = run.spawn().unwrap();
    let (shorter, longer) = (&TOKEN[1..], format!("{TOKEN}{TOKEN}"));
    for token in [ADMIN_TOKEN, "", shorter, &longer, &TOKEN.to_uppercase()] {
        assert_eq!(asks_for_a_share(&mut run, at, token), "401", "{token}");
    }
    let shown = shown_to_the_shop(run.id());
    let mut worker = worker(&format!("http://{at}"), TOKEN);
    let ran = run.wait_with_output().unwrap();
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    assert_eq!(worker.wait().unwrap().code(), Some(0));
    assert!(!shown.contains(TOKEN), "{shown}");
}

/// Returns the command lines and environments of the instances that a run started.
fn shown_to_the_shop(run: u32) -> String {
    let read = |pid: u32, what: &str| fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default();
    let shown = descendants(run).into_iter().map(|pid| {
        let both = [read(pid, "cmdline"), read(pid, "environ")].concat();
        String::from_utf8_lossy(&both).replace('\0', "\n")
    });
    let shown: Vec<String> = shown.filter(|shown| shown.contains("\nserve\n")).collect();
    assert_eq!(shown.len(), 2, "{shown:?}");
    shown.concat()
}

#[test]
fn a_token_that_is_not_given_is_drawn_and_printed_with_the_command_of_a_worker() {
    let results = tempfile::tempdir().unwrap();
    let mut run = run_with_workers("1", free_address(), results.path()).spawn().unwrap();
    let mut said = BufReader::new(run.stderr.take().unwrap()).lines().map(Result::unwrap);
    let line = said.find(|line| line.contains("OVERSELL_WORKERS_TOKEN=")).unwrap();
    let (_, command) = line.split_once("OVERSELL_WORKERS_TOKEN=").unwrap();
    let words: Vec<&str> = command.split(' ').collect();
    let [token, _, "run", "--load-only", url] = words.as_slice() else {
        panic!("{line}");
    };
    let mut worker = worker(url, token);
    let rest: Vec<String> = said.collect();
    assert_eq!(run.wait().unwrap().code(), Some(0), "{rest:?}");
    assert_eq!(worker.wait().unwrap().code(), Some(0));
    let kept = result_json(results.path()).unwrap();
    assert!(!fs::read_to_string(kept).unwrap().contains(token));
}

#[test]
fn a_worker_without_the_token_and_a_token_that_the_shop_knows_are_refused() {
    let refused = output(&["run", "--load-only", "http://127.0.0.1:1", "--admin-token", ADMIN_TOKEN]);
    assert_eq!(refused.status.code(), Some(64), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("--workers-token"), "{}", stderr(&refused));
    for arguments in [&["--workers", "2"][..], &["--load-only", "http://127.0.0.1:1"]] {
        let mut run = oversell(&["run"]);
        run.args(arguments)
            .env("OVERSELL_ADMIN_TOKEN", TOKEN)
            .env("OVERSELL_WORKERS_TOKEN", TOKEN);
        let refused = run.output().unwrap();
        let said = stderr(&refused);
        assert_eq!(refused.status.code(), Some(64), "{said}");
        assert!(said.contains("is the admin token") && !said.contains(TOKEN), "{said}");
    }
}
