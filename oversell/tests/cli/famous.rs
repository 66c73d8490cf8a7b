//! The cells of the matrix that the literature knows.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::harness::{output, play_faults_alone, stderr};

/// How often a trial is played until it decides everything.
const TRIES: usize = 3;

/// Threats, the strategies that are tried under them, and those that fail; all others hold.
const FAMOUS: [(&str, &str, &str); 27] = [
    (
        "slow-holder",
        "token@redis,watchdog@redis,redlock@redis,fenced@sql,setnx@sql",
        "token@redis",
    ),
    (
        "paused-holder",
        "token@redis,watchdog@sql,redlock@redis,fenced@redis,setnx@redis,conditional@sql",
        "token@redis,watchdog@sql,redlock@redis",
    ),
    (
        "blocked-runtime",
        "watchdog@redis,fenced@sql,lua@redis",
        "watchdog@redis",
    ),
    (
        "crashed-between",
        "dual-write@redis+sql,outbox@redis+sql,saga@redis+sql,conditional@sql",
        "dual-write@redis+sql",
    ),
    (
        "redis-restart",
        "lua@redis,token@sql,fenced@sql,watchdog@sql",
        "lua@redis,token@sql,watchdog@sql",
    ),
    (
        "sql-restart",
        "conditional@sql,for-update@sql,tcc@redis+sql,named-lock@redis,dual-write@redis+sql",
        "named-lock@redis,dual-write@redis+sql",
    ),
    ("sql-gone", "named-lock@sql,for-update@sql,fenced@sql", "named-lock@sql"),
    (
        "store-silent",
        "lua@redis,conditional@sql,token@redis,watchdog@sql,fenced@redis,fenced@sql",
        "token@redis,watchdog@sql",
    ),
    (
        "slow-network,lost-reply",
        "lua@redis,conditional@sql,token@redis,decr-undo@redis",
        "decr-undo@redis",
    ),
    (
        "clock-jump",
        "getset-time@redis,token@redis,fenced@redis,lua@redis,conditional@sql",
        "getset-time@redis,token@redis",
    ),
    (
        "session-expiry",
        "zookeeper@redis,etcd@redis,zookeeper-checked@sql,etcd-checked@sql",
        "zookeeper@redis,etcd@redis,zookeeper-checked@sql,etcd-checked@sql",
    ),
    (
        "redis-evicts",
        "token@sql,redlock@redis,setnx@sql,fenced@sql,lua@redis",
        "token@sql,redlock@redis",
    ),
    (
        "redis-evicts-all",
        "lua@redis,token@sql,fenced@sql",
        "lua@redis,token@sql",
    ),
    ("redis-full", "lua@redis,setnx@sql,fenced@sql,tcc@redis+sql", ""),
    (
        "sql-failover",
        "conditional@sql,outbox@redis+sql,two-phase@sql+sql,named-lock@redis",
        "conditional@sql,outbox@redis+sql,two-phase@sql+sql,named-lock@redis",
    ),
    (
        "reconciler-killed",
        "tcc@redis+sql,saga@redis+sql,two-phase@sql+sql,three-phase@sql+sql",
        "three-phase@sql+sql",
    ),
    ("message-twice", "outbox@redis+sql", ""),
    ("lock-service-restart", "redlock@sql", "redlock@sql"),
    ("retrying-proxy", "lua@redis,conditional@sql,token@redis", ""),
    ("second-click,buyer-gone", "token@redis,compare-num@sql,lua@redis", ""),
    (
        "instance-cut-off",
        "token@sql,watchdog@sql,fenced@sql,baton@sql",
        "token@sql,watchdog@sql",
    ),
    ("minority-restart", "zookeeper@sql", ""),
    ("majority-restart,majority-clock-jump", "redlock@sql", "redlock@sql"),
    ("leader-change", "zookeeper-checked@sql,etcd@sql", ""),
    (
        "clock-back",
        "getset-time@sql,token@sql,fenced@sql,conditional@sql",
        "getset-time@sql",
    ),
    (
        "redis-restart-clock-back",
        "token@sql,fenced@sql,baton@sql",
        "token@sql,fenced@sql,baton@sql",
    ),
    (
        "rolling-replacement",
        "lua@redis,conditional@sql,watchdog@sql,outbox@redis+sql,mutex@sql",
        "mutex@sql",
    ),
];

/// What became of strategies under one threat.
#[derive(Default)]
struct Played {
    fallen: BTreeSet<String>,
    undecided: BTreeMap<String, Value>,
    status: Option<i32>,
}

/// Plays these strategies under these threats, and those that a round leaves undecided again: on a busy machine a fault
/// may miss its moment.
fn played(threat: &str, strategies: &str) -> Played {
    let mut played = Played::default();
    let mut left = strategies.to_owned();
    for _ in 0..TRIES {
        let results = tempfile::tempdir().unwrap();
        let folder = results.path().to_str().unwrap();
        let trial = ["run", "--results", folder, "--strategy", &left, "--threat", threat];
        let ran = output(&[&trial[..], &["--instances", "2", "--repeat", "2", "--json"]].concat());
        let run: Value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| panic!("{threat}: {}", stderr(&ran)));
        played.fallen.extend(of(&run, "violated").into_keys());
        (played.undecided, played.status) = (of(&run, "inconclusive"), ran.status.code());
        left = played.undecided.keys().cloned().collect::<Vec<_>>().join(",");
        if left.is_empty() {
            break;
        }
    }
    played
}

/// Returns the strategies of the rounds with that verdict, and why a round of each decided nothing.
fn of(run: &Value, verdict: &str) -> BTreeMap<String, Value> {
    let rounds = run["rounds"].as_array().unwrap().iter();
    let those = rounds.filter(|round| round["verdict"] == verdict);
    let named = those.map(|round| (round["strategy"].as_str().unwrap(), &round["inconclusive"]));
    named
        .map(|(strategy, why)| (strategy.to_owned(), why.clone()))
        .collect()
}

#[test]
fn who_falls_to_which_fault_is_as_the_literature_has_it() {
    let _alone = play_faults_alone();
    for (threat, strategies, fallen) in FAMOUS {
        let played = played(threat, strategies);
        assert_eq!(played.undecided, BTreeMap::new(), "{threat}");
        let expected: BTreeSet<_> = fallen
            .split(',')
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect();
        assert_eq!(played.fallen, expected, "{threat}");
        assert_eq!(played.status, Some(0), "{threat}");
    }
}
