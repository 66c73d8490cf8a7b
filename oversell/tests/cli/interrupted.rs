//! A run that ends early, by Ctrl-C or by a kill, and what it leaves.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::faults::{admin, instance};
use crate::harness::{
    descendants, interrupt, is_alive, output, oversell, result_json, rounds_jsonl, stderr, stdout, until,
};

#[test]
fn ctrl_c_in_the_middle_of_a_run_stops_everything_and_keeps_the_rounds_that_were_over() {
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let child = oversell(&["--strategy", "lua@redis", "--repeat", "100", "--results", folder])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the first round", || rounds_jsonl(results.path()));
    let servers = descendants(child.id());
    assert!(servers.len() >= 4, "redis, mariadb, nginx and an instance: {servers:?}");
    interrupt(&child);
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    assert_eq!(stdout(&ended), "", "stdout is for results");
    until("the end of the servers", || {
        servers.iter().all(|pid| !is_alive(*pid)).then_some(())
    });
    let kept = result_json(results.path()).unwrap();
    assert_eq!(rounds_jsonl(results.path()), None);
    let run: serde_json::Value = serde_json::from_slice(&fs::read(&kept).unwrap()).unwrap();
    assert!(!run["rounds"].as_array().unwrap().is_empty());
    assert_eq!(run["as_designed"], serde_json::Value::Null);
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.contains("The run ended early: it decides nothing."), "{said}");
    assert!(said.contains("ok lua@redis holds in all "), "{said}");
    assert!(
        said.lines().last().unwrap().contains(" report "),
        "the next command: {said}"
    );
    let again = stdout(&output(&["report", kept.to_str().unwrap()]));
    let verdict = "**The run ended early: it decides nothing.**\n\n```text\nEnded early: after ";
    assert!(again.starts_with(verdict), "{again}");
}

#[test]
fn a_run_that_is_killed_leaves_the_rounds_that_were_over_to_be_reported() {
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let mut child = oversell(&["--strategy", "lua@redis", "--repeat", "100", "--results", folder])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let kept = until("the first round", || rounds_jsonl(results.path()));
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().code(), None, "a signal ended it");
    assert_eq!(result_json(results.path()), None);
    let run = kept.parent().unwrap().to_str().unwrap();
    let table = stdout(&output(&["report", run]));
    let verdict = "**The run ended early: it decides nothing.**\n\n```text\nEnded early: after ";
    assert!(table.starts_with(verdict), "{table}");
    assert!(table.contains(" rounds: it was cut off\n"), "{table}");
    assert!(table.contains("lua@redis"), "{table}");
    let json: serde_json::Value = serde_json::from_slice(&output(&["report", run, "--json"]).stdout).unwrap();
    assert!(!json["rounds"].as_array().unwrap().is_empty(), "{json}");
    assert_eq!(json["as_designed"], serde_json::Value::Null);
}

#[test]
fn ctrl_c_in_the_middle_of_an_attack_leaves_nothing_on_stdout() {
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let long = ["--strategy", "lua@redis", "--instances", "1", "--work-ms", "5000"];
    let child = oversell(&[&long[..], &["--results", folder]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("a purchase in progress", || {
        let (admin, token) = admin(instance(child.id())?)?;
        let (url, token) = (format!("{admin}/metrics"), format!("authorization: Bearer {token}"));
        let metrics = Command::new("curl").args(["-sS", &url, "-H", &token]).output().unwrap();
        stdout(&metrics).contains("purchases_in_progress 1").then_some(())
    });
    interrupt(&child);
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    assert_eq!(stdout(&ended), "");
}

#[test]
fn a_search_of_a_lab_that_is_interrupted_reveals_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let lab = |arguments: &[&str]| {
        let mut command = oversell(&["lab"]);
        command.args(arguments).arg("--folder").arg(folder.path());
        command
    };
    for arguments in [&["predict", "1", "c"][..], &["run", "1"]] {
        let ran = lab(arguments).output().unwrap();
        assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    }
    let mut child = lab(&["reveal", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let search = said.find(|line| line.as_ref().unwrap().contains(" explore "));
    assert!(search.is_some());
    interrupt(&child);
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130));
    let listed = stdout(&lab(&[]).output().unwrap());
    assert!(listed.contains("[predicted c, run]"), "{listed}");
}
