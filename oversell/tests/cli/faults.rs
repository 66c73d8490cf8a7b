//! Faults asked for at the admin listener: the process really stops, and really dies.

use std::fs;
use std::process::Command;

use crate::harness::{descendants, interrupt, until, up, word};

/// The state letter of a process, such as `T` for stopped, and its command line.
fn state(pid: u32) -> Option<(char, String)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).ok()?;
    Some((stat.rsplit_once(") ")?.1.chars().next()?, command))
}

/// The process of `app-1` below `parent`.
pub fn instance(parent: u32) -> Option<u32> {
    let is_it = |pid: &u32| state(*pid).is_some_and(|(_, command)| command.contains("app-1"));
    descendants(parent).into_iter().find(is_it)
}

/// The admin listener of an instance, and its token, as the system knows them.
pub fn admin(pid: u32) -> Option<(String, String)> {
    let after = |file: &str, name: &str| {
        let content = fs::read_to_string(format!("/proc/{pid}/{file}")).ok()?;
        let (_, rest) = content.split_once(name)?;
        Some(rest.split('\0').next()?.to_owned())
    };
    let address = after("cmdline", "--admin-listen\0")?;
    Some((format!("http://{address}"), after("environ", "OVERSELL_ADMIN_TOKEN=")?))
}

fn ask(admin: &str, token: &str, fault: &str) {
    let asked = Command::new("curl")
        .args([
            "-sS",
            "--max-time",
            "20",
            "-X",
            "POST",
            &format!("{admin}/faults"),
            "-H",
            "content-type: application/json",
        ])
        .args([
            "-H",
            &format!("authorization: Bearer {token}"),
            "-d",
            &format!(r#"{{"fault":"{fault}"}}"#),
        ])
        .status();
    assert!(asked.unwrap().success(), "{fault}");
}

#[test]
fn an_instance_that_is_told_to_pause_stops_and_goes_on_and_one_that_is_told_to_crash_comes_back() {
    let (mut child, said) = up(&["--instances", "1"]);
    let (admin, token) = (word(&said, "app-1"), word(&said, "token"));
    let pid = instance(child.id()).unwrap();

    ask(&admin, &token, "pause=1500");
    until("a stopped process", || (state(pid)?.0 == 'T').then_some(()));
    until("a process that goes on", || (state(pid)?.0 != 'T').then_some(()));

    ask(&admin, &token, "crash");
    until("another process", || instance(child.id()).filter(|other| *other != pid));

    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_pause_however_short_is_not_over_before_it_has_begun() {
    let (mut child, said) = up(&["--instances", "1"]);
    let (admin, token) = (word(&said, "app-1"), word(&said, "token"));
    // One that is woken too early stops for good, and does not answer the next.
    for _ in 0..200 {
        ask(&admin, &token, "pause=1");
    }
    let pid = instance(child.id()).unwrap();
    until("a process that goes on", || (state(pid)?.0 != 'T').then_some(()));
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}
