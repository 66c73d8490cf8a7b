//! The lines of `up` can be typed one by one, and show what they promise.

use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::harness::{interrupt, output, oversell, stderr, stdout, up, up_as, word};

/// The lines that can be typed: those that are indented.
fn commands(said: &[String]) -> String {
    let commands = said.iter().filter(|line| line.starts_with("  "));
    commands.map(|line| format!("{line}\n")).collect()
}

/// Returns the number of buyers with that answer, in the n-th crowd.
fn count(shown: &str, crowd: usize, answer: &str) -> u64 {
    let crowd = shown.split(" buyers, ").nth(crowd + 1).unwrap();
    let counted = crowd.lines().find_map(|line| line.strip_suffix(answer));
    counted.map_or(0, |count| count.trim().parse().unwrap())
}

#[test]
fn every_command_that_up_prints_can_be_typed_in_its_order_and_shows_what_it_promises() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("oversell");
    symlink(env!("CARGO_BIN_EXE_oversell"), &program).unwrap();
    // As it is called in a lecture room, the program has a short name.
    let mut called = oversell(&[]);
    called.current_dir(folder.path()).arg0("./oversell");
    let (mut child, said) = up_as(called, &[]);
    assert!(said.iter().all(|line| line.chars().count() < 72), "{said:#?}");
    let token = word(&said, "token");
    assert!(said.iter().all(|line| !line.contains(&token)), "{said:#?}");
    let typed = Command::new("sh")
        .args(["-ec", &commands(&said)])
        .current_dir(folder.path())
        .output()
        .unwrap();
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let (shown, errors) = (stdout(&typed), stderr(&typed));
    assert_eq!(typed.status.code(), Some(0), "{shown}{errors}");
    let first = shown.lines().next().unwrap();
    assert!(
        first.starts_with("201 sold: order ") && first.contains(", 99 left, by app-"),
        "{shown}"
    );
    assert!(
        count(&shown, 0, "  201 sold") > 100,
        "a crowd without a lock buys more than there is: {shown}"
    );
    assert!(shown.contains(": oversold by "), "{shown}");
    assert_eq!(
        count(&shown, 1, "  201 sold"),
        100,
        "a script sells what there is: {shown}"
    );
    assert_eq!(count(&shown, 1, "  409 sold out"), 50, "{shown}");
    assert!(shown.contains("\nin redis: 100 of 100 units sold, 0 left\n"), "{shown}");
    let answers = shown
        .split(" buyers, ")
        .nth(3)
        .unwrap()
        .split("\nin redis")
        .next()
        .unwrap();
    assert!(
        answers.contains("  502 unknown"),
        "the purchase of the killed instance: {shown}"
    );
    assert!(shown.contains("| sku-1 |"), "the table of MariaDB: {shown}");
    assert!(shown.contains("## Every trial"), "{shown}");
}

#[test]
fn buy_and_crowd_find_the_shop_by_the_environment_and_say_what_to_do_without_one() {
    let nowhere = tempfile::tempdir().unwrap();
    let (mut child, said) = up(&["--instances", "1"]);
    let [host, admin, token] = ["shop", "app-1", "token"].map(|name| word(&said, name));
    let run = |arguments: &[&str]| {
        let mut command = oversell(arguments);
        command.env("OVERSELL_URL", &host).env("OVERSELL_ADMIN_URL", &admin);
        command
            .env("OVERSELL_ADMIN_TOKEN", &token)
            .env("TMPDIR", nowhere.path())
            .output()
            .unwrap()
    };
    let bought = run(&["buy", "conditional"]);
    assert!(
        stdout(&bought).starts_with("201 sold: order "),
        "{}{}",
        stdout(&bought),
        stderr(&bought)
    );
    let refused = run(&["buy", "none"]);
    assert_eq!(refused.status.code(), Some(64));
    assert!(
        stderr(&refused).contains("choose one of none@redis, none@sql"),
        "{}",
        stderr(&refused)
    );
    let crowd = run(&["crowd", "lua@redis", "--buyers", "3"]);
    assert_eq!(
        stdout(&crowd),
        "3 buyers, 100 units of sku-1, lua@redis\n     3  201 sold\n",
        "{}",
        stderr(&crowd)
    );
    interrupt(&child);
    child.wait().unwrap();
    let gone = run(&["buy"]);
    assert_eq!(gone.status.code(), Some(69), "{}", stderr(&gone));
    assert!(!stderr(&gone).contains(&token), "{}", stderr(&gone));
}

#[test]
fn a_demo_sells_one_unit_to_two_buyers_side_by_side_and_then_shows_what_prevents_it() {
    for (strategy, cure) in [("none@redis", "watch-multi@redis"), ("mutex@sql", "compare-num@sql")] {
        let shown = output(&["demo", strategy]);
        let text = stdout(&shown);
        assert_eq!(shown.status.code(), Some(0), "{text}{}", stderr(&shown));
        let (disease, cured) = text.split_once(&format!("The same with {cure}\n")).unwrap();
        assert!(
            disease.contains("Sold to 2 of 2 buyers. In the store: 2 sold of 1, and 0 left."),
            "{text}"
        );
        assert!(
            cured.contains("Sold to 1 of 2 buyers. In the store: 1 sold of 1, and 0 left."),
            "{text}"
        );
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
    for (asked, name) in [
        ("lua@redis", "lua@redis"),
        ("conditional", "conditional@sql"),
        ("two-phase@sql+sql", "two-phase@sql+sql"),
    ] {
        let ran = output(&["demo", asked]);
        let safe = stdout(&ran);
        assert!(
            safe.starts_with(&format!("One unit, two buyers, two instances: {name}\n")),
            "{safe}{}",
            stderr(&ran)
        );
        assert!(!safe.contains("The same with"), "nothing has to be cured: {safe}");
    }
}
