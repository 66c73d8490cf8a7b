//! A network namespace of its own, whose loopback interface is down at first: `unshare -n`.

use std::process::{Command, Output};

use crate::harness::{SMALL, oversell, stderr};

/// Runs the program there. Returns `None` where the system gives nobody a namespace without root rights.
fn alone(arguments: &[&str]) -> Option<Output> {
    let program = oversell(arguments);
    let may = Command::new("unshare")
        .args(["--map-root-user", "--net", "true"])
        .output();
    if !may.is_ok_and(|tried| tried.status.success()) {
        return None;
    }
    let mut there = Command::new("unshare");
    there.args(["--map-root-user", "--net"]).arg(program.get_program());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => there.env(name, value),
            None => there.env_remove(name),
        };
    }
    Some(there.args(program.get_args()).output().unwrap())
}

#[test]
fn where_the_loopback_interface_is_down_an_error_says_so_and_names_the_command() {
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let run = [
        "run",
        "--strategy",
        "none@redis",
        "--threat",
        "crowd",
        "--instances",
        "1",
        "--results",
        folder,
    ];
    let at = "http://127.0.0.1:1";
    let token = "0123456789abcdef";
    let remote = [
        "run",
        "--host",
        at,
        "--admin",
        at,
        "--admin-token",
        token,
        "--redis",
        "redis://127.0.0.1:1",
    ];
    let commands = [
        [&run[..], &SMALL].concat(),
        vec!["page", "--page", "127.0.0.1:0"],
        remote.to_vec(),
    ];
    for arguments in commands {
        let Some(ran) = alone(&arguments) else { return };
        let said = stderr(&ran);
        assert!(!ran.status.success(), "{arguments:?}");
        assert!(said.contains("`ip link set lo up`"), "{arguments:?}: {said}");
    }
}
