//! A soak as a user meets it, on real servers.

use serde_json::Value;

use crate::harness::{interrupt, output, result_json, stderr, stdout, up, word};

/// Fast strategies under threats that do not wait.
const FAST: [&str; 4] = [
    "--strategy",
    "lua@redis,decr-undo@redis,tcc@redis+sql",
    "--threat",
    "crowd,second-instance,second-click,buyer-gone",
];

fn soak(more: &[&str], results: &tempfile::TempDir) -> std::process::Output {
    let folder = results.path().to_str().unwrap();
    output(&[&["run", "--results", folder], &FAST[..], more].concat())
}

fn rounds(run: &Value) -> &Vec<Value> {
    run["rounds"].as_array().unwrap()
}

/// Returns the drawn parts of each round.
fn plan(run: &Value) -> Vec<[Value; 4]> {
    let drawn = |round: &Value| ["strategy", "threat", "instances", "demand"].map(|part| round[part].clone());
    rounds(run).iter().map(drawn).collect()
}

#[test]
fn a_soak_sends_what_was_asked_for_sells_all_there_is_and_says_what_it_comes_to() {
    let results = tempfile::tempdir().unwrap();
    let ran = soak(&["--soak", "3000", "--seed", "7"], &results);
    let said = stdout(&ran);
    assert_eq!(ran.status.code(), Some(0), "{said}{}", stderr(&ran));
    let kept = result_json(results.path()).unwrap();
    let run: Value = serde_json::from_slice(&std::fs::read(kept).unwrap()).unwrap();
    assert_eq!(run["soak"], serde_json::json!({"purchases": 3_000, "seed": 7}));
    let sum = |word: &str| {
        rounds(&run)
            .iter()
            .map(|round| round["told"][word].as_i64().unwrap())
            .sum::<i64>()
    };
    let [sold, sold_out, busy, unknown] = ["sold", "sold_out", "busy", "unknown"].map(sum);
    let all = sold + sold_out + busy + unknown;
    assert!(all >= 3_000, "{said}");
    for round in rounds(&run) {
        assert_eq!(round["facts"]["recorded"], round["stock"], "{round}");
        assert!(round["told"]["sold_out"].as_i64().unwrap() > 100, "{round}");
        assert_eq!((&round["claimed"], &round["verdict"]), (&true.into(), &"holds".into()));
    }
    let played = rounds(&run).len();
    assert!(
        said.contains(&format!("```text\nSoak, seed 7: {all} purchases, {played} rounds, ")),
        "{said}"
    );
    assert!(
        said.contains(&format!(
            "{sold} sold, {sold_out} sold out, {busy} busy, {unknown} unknown ("
        )),
        "{said}"
    );
    let verdict = format!("0 oversold, 0 lost, 0 duplicate; {played} of {played} rounds hold.");
    assert!(said.contains(&verdict), "{said}");
}

#[test]
fn a_soak_without_a_seed_says_which_one_draws_the_same_again() {
    let results = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let first = soak(&["--soak", "600", "--json"], &results[0]);
    let run: Value = serde_json::from_slice(&first.stdout).unwrap();
    let seed = run["soak"]["seed"].to_string();
    assert!(
        stderr(&first).contains(&format!("rounds, drawn with --seed {seed}\n")),
        "{}",
        stderr(&first)
    );
    let second = soak(&["--soak", "600", "--json", "--seed", &seed], &results[1]);
    assert_eq!(plan(&serde_json::from_slice(&second.stdout).unwrap()), plan(&run));
}

#[test]
fn what_cannot_be_played_where_the_shop_runs_is_not_drawn() {
    let (mut child, said) = up(&["--instances", "2"]);
    let word = |of: &str| word(&said, of);
    let [host, one, other, token, redis, sql] = ["shop", "app-1", "app-2", "token", "redis", "sql"].map(word);
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let at = [
        "--host",
        &host,
        "--admin",
        &one,
        "--admin",
        &other,
        "--admin-token",
        &token,
        "--redis",
        &redis,
        "--sql",
        &sql,
    ];
    let asked = [
        "--soak",
        "600",
        "--strategy",
        "lua@redis",
        "--threat",
        "second-instance,lost-reply,redis-restart-aof",
    ];
    let ran = output(&[&["run", "--json", "--results", folder], &at[..], &asked].concat());
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(ran.status.code(), Some(0), "{}", stderr(&ran));
    let run: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert!(!rounds(&run).is_empty());
    for round in rounds(&run) {
        assert_eq!(
            (&round["threat"], &round["skipped"]),
            (&"second-instance".into(), &Value::Null)
        );
    }
}

#[test]
fn a_soak_of_nothing_that_is_claimed_is_refused() {
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let unsafe_one = ["run", "--results", folder, "--soak", "200", "--strategy", "token@redis"];
    let refused = output(&unsafe_one);
    assert_eq!(refused.status.code(), Some(64), "{}", stderr(&refused));
    assert!(
        stderr(&refused).contains("nothing of this can be in a soak"),
        "{}",
        stderr(&refused)
    );
}
