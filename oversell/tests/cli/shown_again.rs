//! `report` for a kept result, and `completions`.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::harness::{output, stderr, stdout};

/// A run that is committed.
fn run() -> String {
    let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results");
    let mut runs = fs::read_dir(results).unwrap().map(|run| run.unwrap().path());
    let run = runs.find(|run| run.to_str().unwrap().ends_with("-matrix")).unwrap();
    run.to_str().unwrap().to_owned()
}

#[test]
fn report_draws_the_charts_into_a_folder_that_need_not_be_there() {
    let folder = tempfile::tempdir().unwrap();
    let charts = folder.path().join("new/charts");
    let drawn = output(&["report", &run(), "--charts", charts.to_str().unwrap()]);
    assert_eq!(drawn.status.code(), Some(0), "{}", stderr(&drawn));
    assert_eq!(stdout(&drawn), "");
    for name in ["oversold.svg", "cost.svg"] {
        let chart = fs::read_to_string(charts.join(name)).unwrap();
        assert!(chart.starts_with("<svg ") && chart.contains("@redis<"), "{chart}");
    }
}

#[test]
fn report_fills_every_part_of_a_document_that_has_marks_and_says_where_the_whole_run_is() {
    let folder = tempfile::tempdir().unwrap();
    let document = folder.path().join("README.md");
    let marks =
        "before\n<!-- results -->\nold\n<!-- /results -->\nbetween\n<!-- choices-zh --><!-- /choices-zh -->\nafter\n";
    for result in [run(), format!("{}/result.json", run())] {
        fs::write(&document, marks).unwrap();
        let put = output(&["report", &result, "--into", document.to_str().unwrap()]);
        assert_eq!(put.status.code(), Some(0), "{}", stderr(&put));
        let text = fs::read_to_string(&document).unwrap();
        assert!(text.starts_with("before\n<!-- results -->\n| strategy "), "{text}");
        assert!(text.ends_with("\n<!-- /choices-zh -->\nafter\n"), "{text}");
        assert!(
            text.contains("\n<!-- /results -->\nbetween\n<!-- choices-zh -->\n| 库存"),
            "{text}"
        );
        assert!(!text.contains("old\n"), "{text}");
        assert!(
            text.contains("\n| `none@redis` ") && text.contains(&format!("({})", run())),
            "{text}"
        );
    }
    fs::write(&document, "no marks\n").unwrap();
    let refused = output(&["report", &run(), "--into", document.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(64), "{}", stderr(&refused));
    assert_eq!(fs::read_to_string(&document).unwrap(), "no marks\n");
}

#[test]
fn report_draws_or_prints_but_not_both() {
    for other in [&["--json"][..], &["--verbose"], &["--story"], &["--into", "README.md"]] {
        let refused = output(&[&["report", &run(), "--charts", "/nowhere"], other].concat());
        assert_eq!(refused.status.code(), Some(64), "{other:?}: {}", stderr(&refused));
    }
}

#[test]
fn completions_know_every_command_in_each_shell() {
    let help = stdout(&output(&["--help"]));
    let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let commands = commands
        .lines()
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let commands: Vec<&str> = commands.map(|line| line.split_whitespace().next().unwrap()).collect();
    assert!(commands.contains(&"run") && commands.contains(&"completions"), "{help}");
    for shell in ["bash", "zsh", "fish"] {
        let script = output(&["completions", shell]);
        assert_eq!(script.status.code(), Some(0), "{}", stderr(&script));
        for command in &commands {
            assert!(stdout(&script).contains(command), "{shell} does not know {command}");
        }
    }
    assert_eq!(output(&["completions", "cmd.exe"]).status.code(), Some(64));
}

#[test]
fn bash_completes_what_was_begun() {
    let script = stdout(&output(&["completions", "bash"]));
    let begun = "COMP_WORDS=(oversell repo); COMP_CWORD=1; _oversell oversell repo oversell; echo \"${COMPREPLY[@]}\"";
    let completed = Command::new("bash")
        .args(["-c", &format!("{script}\n{begun}")])
        .output()
        .unwrap();
    assert_eq!(stdout(&completed).trim(), "report", "{}", stderr(&completed));
}
