//! The cells of the matrix that the literature knows.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::harness::{output, stderr};

/// Threats, the strategies that are tried under them, and those that fail; all others hold.
const FAMOUS: [(&str, &str, &str); 13] = [
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
        "zookeeper@redis,etcd@redis",
    ),
    ("retrying-proxy", "lua@redis,conditional@sql,token@redis", ""),
    ("second-click,buyer-gone", "token@redis,compare-num@sql,lua@redis", ""),
];

/// Returns the strategies of the rounds with that verdict.
fn of<'a>(run: &'a Value, verdict: &str) -> BTreeSet<&'a str> {
    let rounds = run["rounds"].as_array().unwrap().iter();
    let those = rounds.filter(|round| round["verdict"] == verdict);
    those.map(|round| round["strategy"].as_str().unwrap()).collect()
}

#[test]
fn who_falls_to_which_fault_is_as_the_literature_has_it() {
    for (threat, strategies, fallen) in FAMOUS {
        let results = tempfile::tempdir().unwrap();
        let folder = results.path().to_str().unwrap();
        let on = ["--instances", "2", "--repeat", "2", "--json"];
        let ran = output(
            &[
                &["run", "--results", folder, "--strategy", strategies, "--threat", threat],
                &on[..],
            ]
            .concat(),
        );
        let run = serde_json::from_slice(&ran.stdout);
        let run: Value = run.unwrap_or_else(|_| panic!("{threat}: {}", stderr(&ran)));
        let expected: BTreeSet<_> = fallen.split(',').filter(|name| !name.is_empty()).collect();
        assert_eq!(of(&run, "violated"), expected, "{threat}");
        assert_eq!(of(&run, "inconclusive"), BTreeSet::new(), "{threat}");
        assert_eq!(ran.status.code(), Some(0), "{threat}: {}", stderr(&ran));
    }
}
