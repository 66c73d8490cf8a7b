//! Each fault leaves a proof in the result that it struck, at each service that it is about.

use std::collections::BTreeSet;

use loadtest::threats;
use serde_json::Value;

use crate::harness::{output, play_faults_alone, stderr};

/// Each threat with a fault is about one of them: they lock by five Redis servers, by an ensemble and by the Redis of
/// the shop, and one has two stores.
const STRATEGIES: &str = "redlock@sql,zookeeper@redis,token@sql,outbox@redis+sql";

/// The faults of messages, which reach every service of a strategy.
const OF_MESSAGES: [&str; 3] = ["slow-network", "lost-reply", "store-silent"];

/// How often a fault is played until it strikes: on a busy machine it may miss its moment.
const TRIES: usize = 3;

/// Returns the services of a round's proofs, without the numbers of their processes.
fn struck(round: &Value) -> BTreeSet<&str> {
    let proofs = round["struck"].as_array().into_iter().flatten();
    let services = proofs.map(|proof| proof["service"].as_str().unwrap());
    services.map(|service| service.split('/').next().unwrap()).collect()
}

#[test]
fn each_fault_leaves_a_proof_that_it_struck() {
    let _alone = play_faults_alone();
    let faults = threats::all().iter().filter(|threat| threat.injection.is_some());
    let mut unproven: BTreeSet<_> = faults.map(|threat| threat.name.to_owned()).collect();
    for _ in 0..TRIES {
        let rounds = played(&unproven);
        for round in rounds.iter().filter(|round| !struck(round).is_empty()) {
            unproven.remove(round["threat"].as_str().unwrap());
        }
        rounds.iter().for_each(assert_each_service_is_struck);
        if unproven.is_empty() {
            break;
        }
    }
    assert_eq!(unproven, BTreeSet::new());
}

/// Plays a round of each strategy under each of these threats that is about it.
fn played(threats: &BTreeSet<String>) -> Vec<Value> {
    let names = threats.iter().cloned().collect::<Vec<_>>().join(",");
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().to_str().unwrap();
    let trial = ["run", "--results", folder, "--strategy", STRATEGIES, "--threat", &names];
    let ran = output(&[&trial[..], &["--instances", "2", "--repeat", "1", "--json"]].concat());
    let run: Value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| panic!("{}", stderr(&ran)));
    run["rounds"].as_array().unwrap().clone()
}

/// Asserts that a fault of messages reached every service of the strategy.
fn assert_each_service_is_struck(round: &Value) {
    let (strategy, threat) = (round["strategy"].as_str().unwrap(), round["threat"].as_str().unwrap());
    if !OF_MESSAGES.contains(&threat) || round["verdict"] == "inconclusive" {
        return;
    }
    let services = match strategy.split_once('@').unwrap() {
        ("redlock", _) => ["redis-nodes", "sql"],
        ("zookeeper", _) => ["redis", "zookeeper"],
        _ => ["redis", "sql"],
    };
    assert_eq!(struck(round), BTreeSet::from(services), "{strategy}, {threat}");
}
