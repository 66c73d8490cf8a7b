//! The main job as a user meets it: real servers, a table, a verdict, and nothing left behind.

use std::fs;

use crate::harness::{SMALL, interrupt, output, result_json, stderr, stdout, up, word};

fn run(more: &[&str], results: &tempfile::TempDir) -> std::process::Output {
    let folder = results.path().to_str().unwrap();
    output(&[&["run", "--results", folder], &SMALL[..], more].concat())
}

#[test]
fn a_run_finds_out_who_oversells_and_keeps_what_it_saw() {
    let results = tempfile::tempdir().unwrap();
    let ran = run(
        &[
            "--strategy",
            "none@redis,mutex@sql,conditional@sql,lua@redis",
            "--instances",
            "1,2",
        ],
        &results,
    );
    let table = stdout(&ran);
    assert_eq!(ran.status.code(), Some(0), "{table}{}", stderr(&ran));
    assert!(
        table.starts_with("**As claimed: of 4 strategies 2 held in every round, 2 failed.**\n\n```text\n"),
        "stdout holds the result alone, and begins with the verdict:\n{table}"
    );
    assert!(table.contains("**oversold "), "{table}");
    let kept = result_json(results.path()).unwrap();
    let again = output(&["report", kept.to_str().unwrap()]);
    assert_eq!(stdout(&again), table);
    assert_eq!(fs::read_to_string(kept.with_file_name("result.md")).unwrap(), table);
}

#[test]
fn a_quantity_above_one_is_sold_to_the_last_whole_purchase() {
    let results = tempfile::tempdir().unwrap();
    let strategies = "token@redis,watchdog@sql,compare-num@sql,conditional@sql,watch-multi@redis,lua@redis";
    let ran = run(
        &[
            "--strategy",
            strategies,
            "--instances",
            "2",
            "--quantity",
            "3",
            "--json",
        ],
        &results,
    );
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    let run: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    let crowds: Vec<_> = run["rounds"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|round| round["threat"] == "second-instance")
        .collect();
    assert_eq!(crowds.len(), 6);
    for round in crowds {
        assert_eq!(round["told"]["sold"], 15, "{round}");
        assert_eq!(round["facts"]["recorded"], 15, "{round}");
        assert_eq!(round["facts"]["stock_left"], 1, "{round}");
    }
}

#[test]
fn a_market_is_sold_out_item_by_item() {
    let results = tempfile::tempdir().unwrap();
    let market = ["--items", "2", "--strategy", "lua@redis,conditional@sql", "--json"];
    let on = ["--instances", "2", "--threat", "second-instance"];
    let ran = run(&[&market[..], &on].concat(), &results);
    let run: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    let rounds = run["rounds"].as_array().unwrap();
    assert_eq!(rounds.len(), 2, "{}", stderr(&ran));
    for round in rounds {
        assert_eq!((&round["items"], &round["stock"]), (&2.into(), &16.into()), "{round}");
        assert_eq!(
            (&round["told"]["sold"], &round["facts"]["recorded"]),
            (&32.into(), &32.into()),
            "{round}"
        );
        assert_eq!(
            (&round["facts"]["stock_left"], &round["verdict"]),
            (&0.into(), &"holds".into()),
            "{round}"
        );
    }
}

#[test]
fn what_failed_twice_without_a_claim_is_not_tried_again_and_rounds_are_shown_in_the_order_of_the_plan() {
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let trial = [
        "run",
        "--results",
        folder,
        "--strategy",
        "none@redis,token@redis",
        "--repeat",
        "4",
        "--json",
    ];
    let threats = ["--threat", "second-instance,crashed-holder", "--instances", "2"];
    let ran = output(&[&trial[..], &threats].concat());
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    let run: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    let played: Vec<_> = run["rounds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|round| [&round["repeat"], &round["threat"], &round["strategy"]].map(|part| part.to_string()))
        .collect();
    let tried = |threat: &str, strategy: &str| {
        let same = |round: &&[String; 3]| round[1].contains(threat) && round[2].contains(strategy);
        played.iter().filter(same).count()
    };
    assert_eq!(tried("second-instance", "none"), 2, "{played:?}");
    assert_eq!(tried("second-instance", "token"), 4, "{played:?}");
    // Rounds that mostly wait may all have begun before one of them is known to have failed.
    assert!((2..=4).contains(&tried("crashed-holder", "none")), "{played:?}");
    assert_eq!(tried("crashed-holder", "token"), 4, "{played:?}");
    let repeats: Vec<_> = played.iter().map(|round| &round[0]).collect();
    assert!(repeats.is_sorted(), "{played:?}");
}

#[test]
fn only_the_threats_that_are_named_are_played_and_the_control_only_if_it_is() {
    for (threats, expected) in [
        ("second-instance", &["second-instance"][..]),
        ("crowd,one-buyer", &["one-buyer", "crowd"]),
    ] {
        let results = tempfile::tempdir().unwrap();
        let named = [
            "--threat",
            threats,
            "--strategy",
            "lua@redis",
            "--instances",
            "1,2",
            "--json",
        ];
        let ran = run(&named, &results);
        let run: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
        let rounds = run["rounds"].as_array().unwrap().iter();
        let played: Vec<_> = rounds.map(|round| round["threat"].as_str().unwrap()).collect();
        assert_eq!(played, expected, "{}", stderr(&ran));
    }
}

#[test]
fn a_threat_that_the_instance_counts_leave_out_is_refused_before_anything_is_played() {
    let results = tempfile::tempdir().unwrap();
    let ran = run(&["--threat", "crowd", "--instances", "2"], &results);
    assert_eq!(ran.status.code(), Some(64));
    assert!(
        stderr(&ran).contains("crowd is not played on 2 instances"),
        "{}",
        stderr(&ran)
    );
}

#[test]
fn a_pattern_of_threats_means_those_that_the_instance_counts_allow() {
    let results = tempfile::tempdir().unwrap();
    let patterns = [
        "--threat",
        "cr*d,second-*",
        "--instances",
        "2",
        "--strategy",
        "lua@redis",
        "--json",
    ];
    let ran = run(&patterns, &results);
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    let run_: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    let rounds = run_["rounds"].as_array().unwrap().iter();
    let played: Vec<_> = rounds.map(|round| round["threat"].as_str().unwrap()).collect();
    assert_eq!(played, ["second-instance", "second-click"]);
    let refused = run(&["--threat", "cr*d", "--instances", "2"], &results);
    assert_eq!(refused.status.code(), Some(64));
    assert!(
        stderr(&refused).contains("cr*d is not played on 2 instances"),
        "{}",
        stderr(&refused)
    );
}

#[test]
fn a_strategy_nobody_knows_is_refused_with_the_one_that_was_meant() {
    let results = tempfile::tempdir().unwrap();
    let ran = run(&["--strategy", "nope@redis"], &results);
    assert_eq!(ran.status.code(), Some(64));
    assert_eq!(
        results.path().read_dir().unwrap().count(),
        0,
        "nothing was seen, so nothing is kept"
    );
    assert!(
        stderr(&ran).contains("no strategy is called nope@redis; did you mean none@redis?"),
        "{}",
        stderr(&ran)
    );
}

#[test]
fn a_strategy_that_the_shop_cannot_use_is_skipped_with_its_reason_and_the_run_is_no_success() {
    let (mut child, said) = up(&["--instances", "2"]);
    let word = |of: &str| word(&said, of);
    let results = tempfile::tempdir().unwrap();
    let [host, admin, token, redis, sql] = ["shop", "app-1", "token", "redis", "sql"].map(word);
    let mut more = vec!["--host", &host, "--admin", &admin, "--admin-token", &token];
    more.extend([
        "--redis",
        &redis,
        "--sql",
        &sql,
        "--strategy",
        "redlock@redis",
        "--json",
    ]);
    let ran = run(&more, &results);
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(ran.status.code(), Some(2), "{}", stderr(&ran));
    let why = "needs redis-nodes: give the instances its URL in OVERSELL_REDIS_NODES_URL";
    let ran: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    for round in ran["rounds"].as_array().unwrap() {
        assert!(round["skipped"].as_str().unwrap().contains(why), "{round}");
    }
}

#[test]
fn a_service_that_a_strategy_needs_is_started_when_the_plan_names_it() {
    let results = tempfile::tempdir().unwrap();
    let ran = run(
        &["--strategy", "redlock@redis", "--instances", "2", "--quiet"],
        &results,
    );
    assert_eq!(ran.status.code(), Some(0), "{}{}", stdout(&ran), stderr(&ran));
    assert_eq!(stderr(&ran), "", "asked to be quiet");
}
