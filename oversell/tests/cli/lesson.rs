//! What `up` prints can be pasted, line by line, and shows what it says that it shows.

use std::process::Command;

use crate::harness::{interrupt, output, stderr, stdout, up};

/// The lines that can be pasted: those that are indented.
fn commands(said: &[String]) -> String {
    let commands = said.iter().filter(|line| line.starts_with("  "));
    commands.map(|line| format!("{line}\n")).collect()
}

/// How many buyers were answered with `status`, by the n-th crowd.
fn counts(said: &str, status: &str) -> Vec<u64> {
    let lines = said.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let counted = lines.filter(|words| words.len() == 2 && words[1] == status);
    counted.map(|words| words[0].parse().unwrap()).collect()
}

#[test]
fn every_command_that_up_prints_can_be_pasted_in_its_order_and_shows_what_it_promises() {
    let (mut child, said) = up(&[]);
    let results = tempfile::tempdir().unwrap();
    let pasted = Command::new("sh")
        .args(["-ec", &commands(&said)])
        .current_dir(results.path())
        .output()
        .unwrap();
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let (shown, errors) = (stdout(&pasted), stderr(&pasted));
    assert_eq!(pasted.status.code(), Some(0), "{shown}{errors}");
    assert!(shown.contains(r#""remaining":99"#), "the first one buys: {shown}");
    let sold = counts(&shown, "201");
    assert!(sold[0] > 99, "a crowd without a lock buys more than there is: {shown}");
    assert_eq!(sold[1], 100, "a script sells what there is: {shown}");
    let looked = shown.lines().find(|line| line.contains(r#""oversold""#)).unwrap();
    assert!(
        !looked.contains(r#""redis":{"opened":100,"left":0,"orders":100,"#),
        "{looked}"
    );
    assert!(shown.contains("| sku-1 |"), "the table of MariaDB: {shown}");
    assert!(shown.contains("## Every trial"), "{shown}");
}

#[test]
fn a_demo_sells_one_unit_to_two_buyers_side_by_side_and_then_shows_what_prevents_it() {
    for (strategy, cure) in [("none@redis", "fenced@redis"), ("mutex@sql", "fenced@sql")] {
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
    let safe = stdout(&output(&["demo", "lua@redis"]));
    assert!(!safe.contains("The same with"), "nothing has to be cured: {safe}");
}
