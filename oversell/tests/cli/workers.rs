//! Load that comes from several processes, as it would from several machines.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::harness::{output, oversell, stderr};

const TOKEN: &str = "known to all of them";

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
        .env("OVERSELL_ADMIN_TOKEN", TOKEN)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let url = format!("http://{at}");
    let children: Vec<Child> = (0..workers)
        .map(|_| {
            let mut worker = oversell(&["run", "--load-only", &url]);
            worker.env("OVERSELL_ADMIN_TOKEN", TOKEN).spawn().unwrap()
        })
        .collect();
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

/// Asks the run for its share of the load, as a worker does, and returns whether it got one.
fn takes_a_share(process: &mut Child, at: SocketAddr) -> bool {
    let mut run = loop {
        match TcpStream::connect(at) {
            Ok(run) => break run,
            Err(_) if process.try_wait().unwrap().is_none() => std::thread::yield_now(),
            Err(error) => panic!("the run ended before anybody could ask: {error}"),
        }
    };
    let head =
        format!("POST /shares HTTP/1.1\r\nHost: {at}\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: 0\r\n\r\n");
    run.write_all(head.as_bytes()).unwrap();
    let mut status = [0; 12];
    run.read_exact(&mut status).unwrap();
    status == *b"HTTP/1.1 200"
}

#[test]
fn a_run_does_not_wait_long_for_a_worker_that_took_its_share_and_died() {
    let results = tempfile::tempdir().unwrap();
    let at = free_address();
    let mut run = oversell(&[
        "run",
        "--strategy",
        "lua@redis",
        "--threat",
        "second-instance",
        "--instances",
        "2",
    ]);
    run.args(["--repeat", "1", "--workers", "2", "--workers-listen", &at.to_string()]);
    run.arg("--results")
        .arg(results.path())
        .env("OVERSELL_ADMIN_TOKEN", TOKEN);
    let mut run = run.stderr(Stdio::piped()).spawn().unwrap();
    let mut other = oversell(&["run", "--load-only", &format!("http://{at}")]);
    let mut other = other.env("OVERSELL_ADMIN_TOKEN", TOKEN).spawn().unwrap();
    assert!(takes_a_share(&mut run, at));
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
fn a_worker_without_the_token_or_without_a_run_is_refused() {
    let refused = output(&["run", "--load-only", "http://127.0.0.1:1"]);
    assert_eq!(refused.status.code(), Some(64), "{}", stderr(&refused));
}
