//! The parts of a result that come from the traces of the instances: overlaps, waits and stories.

use serde_json::Value;

use crate::harness::{SMALL, output, result_json, stderr, stdout};

/// The round of a strategy under a threat.
fn round<'a>(run: &'a Value, strategy: &str, threat: &str) -> &'a Value {
    let mut rounds = run["rounds"].as_array().unwrap().iter();
    rounds
        .find(|round| round["strategy"] == strategy && round["threat"] == threat)
        .unwrap()
}

#[test]
fn a_violated_round_keeps_the_steps_that_show_it_and_report_tells_them() {
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let strategies = "none@redis,mutex@redis,setnx@redis";
    let ran = output(
        &[
            &["run", "--json", "--results", folder, "--strategy", strategies],
            &SMALL[..],
            &["--instances", "2"],
        ]
        .concat(),
    );
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    let run: Value = serde_json::from_slice(&ran.stdout).unwrap();

    let unlocked = round(&run, "none@redis", "second-instance");
    assert_eq!(
        (&unlocked["findings"]["overlap"], &unlocked["jain"]),
        (&Value::Null, &Value::Null)
    );
    let alone = round(&run, "mutex@redis", "one-buyer");
    assert_eq!(
        (&alone["findings"]["overlap"]["pairs"], &alone["jain"]),
        (&0.into(), &Value::Null)
    );
    let two_mutexes = round(&run, "mutex@redis", "second-instance");
    assert!(
        two_mutexes["findings"]["overlap"]["pairs"].as_u64().unwrap() > 0,
        "{two_mutexes}"
    );
    let one_lock = round(&run, "setnx@redis", "second-instance");
    assert_eq!(one_lock["findings"]["overlap"]["pairs"], 0, "{one_lock}");
    for locked in [two_mutexes, one_lock] {
        assert!(locked["longest_wait_us"].as_u64().unwrap() > 0, "{locked}");
        assert!((0.0..=1.0).contains(&locked["jain"].as_f64().unwrap()), "{locked}");
    }
    for round in run["rounds"].as_array().unwrap() {
        assert_eq!(round["verdict"] == "violated", round["story"].is_object(), "{round}");
        assert_eq!(
            round["repeat"], 1,
            "what failed once as expected is not played again: {round}"
        );
    }
    let instances = |round: &Value| [0, 1].map(|place| round["story"]["purchases"][place]["instance"].clone());
    let [one, other] = instances(two_mutexes);
    assert_ne!(one, other, "each has a mutex of its own");

    let kept = result_json(results.path()).unwrap();
    let told = stdout(&output(&["report", "--story", kept.to_str().unwrap()]));
    let heads: Vec<_> = told.lines().filter(|line| line.starts_with("## ")).collect();
    assert_eq!(heads.len(), 7, "{told}");
    assert!(told.lines().all(|line| line.len() <= 80), "{told}");
    assert!(told.contains("2 sold"), "{told}");
    let (_, crash) = told.split_once("## setnx@redis, crashed-holder").unwrap();
    assert!(crash.contains("ends here: its instance was killed"), "{crash}");
    assert!(crash.contains("told busy"), "{crash}");
}

#[test]
fn once_a_round_of_a_trial_has_a_story_no_further_one_is_told() {
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let line = "run --json --strategy none@redis --threat second-instance --instances 2 --repeat 2 --buyers 8 --requests 16 \
                --stock 8 --work-ms 1";
    let mut arguments: Vec<&str> = line.split_whitespace().collect();
    arguments.extend(["--results", folder]);
    let ran = output(&arguments);
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    let run: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let rounds = run["rounds"].as_array().unwrap().iter();
    let told: Vec<_> = rounds
        .map(|round| (&round["verdict"], round["story"].is_object()))
        .collect();
    let violated = Value::from("violated");
    assert_eq!(told, [(&violated, true), (&violated, false)]);
}

#[test]
fn a_story_names_the_pause_the_end_of_the_lease_and_the_unit_that_is_gone() {
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let line = "run --json --strategy token@redis,none@redis,dual-write@redis+sql --threat paused-holder,crashed-between \
                --instances 2 --repeat 1";
    let mut arguments: Vec<&str> = line.split_whitespace().collect();
    arguments.extend(["--results", folder]);
    let ran = output(&arguments);
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    let run: Value = serde_json::from_slice(&ran.stdout).unwrap();
    let story = |strategy, threat| &round(&run, strategy, threat)["story"];
    let event = |story: &Value, what: &str| {
        let mut events = story["events"].as_array().unwrap().iter();
        let found = events.find(|event| event["what"] == what);
        found.unwrap_or_else(|| panic!("no {what}: {story}")).clone()
    };

    for strategy in ["token@redis", "none@redis"] {
        let paused = story(strategy, "paused-holder");
        let pause = event(paused, "paused");
        let [from, to] = ["began_us", "ended_us"].map(|side| pause[side].as_i64().unwrap());
        assert!(to - from > 2_500_000, "{pause}");
        assert_eq!(pause["subject"], paused["purchases"][0]["instance"], "{paused}");
        assert_ne!(pause["subject"], paused["purchases"][1]["instance"], "{paused}");
        let mut writes = paused["steps"].as_array().unwrap().iter();
        let meanwhile = writes
            .find(|step| step["role"] == "write" && step["purchase"] == 1)
            .unwrap();
        assert!(
            (from..to).contains(&meanwhile["ended_us"].as_i64().unwrap()),
            "{paused}"
        );
    }
    let lease = event(story("token@redis", "paused-holder"), "lease_ended");
    assert_eq!(lease["purchase"], 0, "{lease}");
    assert!(
        (1_000_000..1_500_000).contains(&lease["began_us"].as_i64().unwrap()),
        "{lease}"
    );

    let dead = story("dual-write@redis+sql", "crashed-between");
    assert_eq!(
        event(dead, "killed")["subject"],
        dead["purchases"][0]["instance"],
        "{dead}"
    );
    assert!(dead["purchases"][0]["units_gone"].as_i64() >= Some(1), "{dead}");

    let kept = result_json(results.path()).unwrap();
    let told = stdout(&output(&["report", "--story", kept.to_str().unwrap()]));
    for line in [
        "is paused (SIGSTOP)",
        "the lease of A has ended",
        "runs again",
        "is killed (SIGKILL)",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    assert!(
        told.replace('\n', " ").contains("which died before it recorded"),
        "{told}"
    );
    assert!(told.lines().all(|line| line.len() <= 80), "{told}");
}
