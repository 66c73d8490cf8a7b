//! The explorer on the command line.

use crate::harness::{output, stderr, stdout, typed};

#[test]
fn a_reader_that_chooses_each_step_can_make_a_shop_oversell() {
    let asked = ["explore", "none@redis", "--events", "0", "--step"];
    // A reads and works; B, the second choice, does all it does; then A goes on.
    let choices = "1\n1\nnone of these\n2\n2\n2\n1\n";
    let ran = typed(&asked, choices);
    let said = stdout(&ran);
    assert_eq!(ran.status.code(), Some(1), "{said}{}", stderr(&ran));
    assert!(said.contains("next?  1) A: write  2) B: read\n"), "{said}");
    assert!(said.contains("a number from 1 to 2 is expected\n"), "{said}");
    assert!(said.contains("in the stores: stock 0, orders 1\n"), "{said}");
    assert!(said.ends_with("\noversold 1, drift -1\n"), "{said}");
}

#[test]
fn the_same_seed_draws_the_same_schedules_and_finds_what_oversells() {
    let drawn = || {
        let asked = [
            "explore",
            "none@redis",
            "--events",
            "0",
            "--random",
            "20",
            "--seed",
            "3",
        ];
        let ran = output(&asked);
        assert_eq!(ran.status.code(), Some(1), "{}", stderr(&ran));
        stdout(&ran)
    };
    let said = drawn();
    assert!(said.contains("20 schedules were played, and there are more"), "{said}");
    assert_eq!(drawn(), said);
}

#[test]
fn a_search_of_several_strategies_keeps_a_row_for_each_and_each_kind_of_event() {
    let folder = tempfile::tempdir().unwrap();
    let results = folder.path().join("explored");
    let results = results.to_str().unwrap();
    let asked = [
        "explore",
        "setnx@redis",
        "token@redis",
        "--preemptions",
        "1",
        "--results",
        results,
    ];
    let ran = output(&asked);
    assert_eq!(ran.status.code(), Some(1), "{}", stderr(&ran));
    let json = std::fs::read(format!("{results}/schedules.json")).unwrap();
    let rows: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let rows = rows.as_array().unwrap().iter();
    let named: Vec<_> = rows
        .map(|row| (row["strategy"].as_str(), row["event"].as_str(), row["violated"] != 0))
        .collect();
    assert_eq!(
        named,
        [
            (Some("setnx@redis"), None, false),
            (Some("setnx@redis"), Some("crash"), true),
            (Some("setnx@redis"), Some("repeat"), false),
            (Some("setnx@redis"), Some("lost-reply"), true),
            (Some("setnx@redis"), Some("late-request"), true),
            (Some("token@redis"), None, false),
            (Some("token@redis"), Some("lease-ends"), true),
            (Some("token@redis"), Some("slow-holder"), true),
            (Some("token@redis"), Some("crash"), false),
            (Some("token@redis"), Some("repeat"), false),
            (Some("token@redis"), Some("lost-reply"), false),
            (Some("token@redis"), Some("late-request"), true),
        ]
    );
    let table = std::fs::read_to_string(format!("{results}/schedules.md")).unwrap();
    assert_eq!(table.lines().count(), 2 + named.len(), "{table}");
    let page = std::fs::read_to_string(format!("{results}/schedules.html")).unwrap();
    for shown in [
        r##"<a href="#schedule-3">oversold 1, drift -1</a>"##,
        "token@redis, event: the lease ends; oversold 1, drift -1",
        "the lease of A has ended, and nobody renewed it",
        "2 sold of 1",
    ] {
        assert!(page.contains(shown), "{shown} is not in {page}");
    }
    assert_eq!(stdout(&output(&["report", results, "--html"])), page);
}

#[test]
fn a_write_that_arrives_late_is_chosen_saved_and_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("late.json");
    let file = file.to_str().unwrap();
    let asked = [
        "explore",
        "token@redis",
        "--event",
        "late-request",
        "--step",
        "--save",
        file,
    ];
    // A takes the lock, reads and works. Its write, the third choice, is late. It gives the lock back, B buys, and the write arrives.
    let choices = "1\n1\n1\n3\n1\n1\n1\n1\n1\n1\n1\n";
    let ran = typed(&asked, choices);
    let said = stdout(&ran);
    assert_eq!(ran.status.code(), Some(1), "{said}{}", stderr(&ran));
    assert!(said.contains("3) A: write, and the request is late"), "{said}");
    assert!(said.contains("a late request of A arrives"), "{said}");
    assert!(said.contains("\n-- its late request arrives: write --\n"), "{said}");
    let again = output(&["replay", file]);
    assert_eq!(again.status.code(), Some(0), "{}{}", stdout(&again), stderr(&again));
}

#[test]
fn a_worker_that_wakes_takes_each_step_when_the_reader_says_so() {
    let asked = ["explore", "tcc@redis+sql", "--event", "worker-wakes", "--step"];
    // A reserves, the workers wake, and the reconciler looks twice. Then A confirms, and the first choice is made until the end.
    let choices = &format!("1\n1\n1\n3\n3\n3\n{}", "1\n".repeat(40));
    let ran = typed(&asked, choices);
    let said = stdout(&ran);
    assert_eq!(ran.status.code(), Some(0), "{said}{}", stderr(&ran));
    assert!(said.contains("time passes, and the workers of app-1 wake\n"), "{said}");
    assert!(said.contains("3) reconciler of app-1: look\n"), "{said}");
    let mut lines = said
        .lines()
        .skip_while(|line| !line.starts_with("-- reconciler of app-1: look"));
    assert_eq!(lines.nth(1), Some("confirm: confirmed"), "{said}");
}

#[test]
fn bounds_that_exclude_each_other_are_refused() {
    for (asked, because) in [
        (&["explore", "lua@redis", "--unreduced"][..], "--preemptions all"),
        (
            &["explore", "lua@redis", "--preemptions", "all", "--random", "9"],
            "a number of --preemptions",
        ),
        (&["explore", "lua@redis", "none@redis", "--step"], "for one strategy"),
        (&["explore", "lua@redis", "--preemptions", "many"], "a number or `all`"),
        (
            &["explore", "lua@redis", "--event", "flood"],
            "lease-ends, slow-holder, crash",
        ),
        (&["explore", "lua@redis", "--purchases", "4"], "2..=3"),
        (&["explore", "lua@redis", "--instances", "3"], "1..=2"),
    ] {
        let ran = output(asked);
        assert_eq!(ran.status.code(), Some(64), "{asked:?}: {}", stderr(&ran));
        assert!(stderr(&ran).contains(because), "{asked:?}: {}", stderr(&ran));
    }
}
