//! Cells of the matrix that the literature knows, for each fault that no lab plays: a strategy that it breaks, one that it does not
//! break, and the proofs that the fault struck.

use std::collections::{BTreeMap, BTreeSet};

use loadtest::threats;
use serde_json::Value;

use crate::harness::{output, result_json, stderr, stdout};

/// How often a trial is played until it decides everything.
const TRIES: usize = 5;

/// Threats, the strategies that are tried under them, and those that fail; all others hold.
type Cells = [(&'static str, &'static str, &'static str)];

/// The cells of faults that strike purchases, messages and instances.
const OF_THE_SHOP: &Cells = &[
    (
        "slow-network,lost-reply",
        "outbox@redis+sql,redlock@sql,zookeeper@redis",
        "",
    ),
    (
        "session-expiry",
        "zookeeper@redis,etcd-checked@sql",
        "zookeeper@redis,etcd-checked@sql",
    ),
    (
        "reconciler-killed",
        "saga@redis+sql,three-phase@sql+sql",
        "three-phase@sql+sql",
    ),
    ("message-twice", "outbox@redis+sql", ""),
    ("retrying-proxy", "lua@redis", ""),
    ("second-click", "token@redis", ""),
    ("instance-cut-off", "watchdog@sql,fenced@sql", "watchdog@sql"),
    ("clock-back", "getset-time@sql,fenced@sql", "getset-time@sql"),
    ("rolling-replacement", "lua@redis,mutex@sql", "mutex@sql"),
];

/// The cells of faults that strike the servers of stores and locks.
const OF_SERVERS: &Cells = &[
    ("redis-restart", "lua@redis,fenced@sql", "lua@redis"),
    ("sql-restart", "named-lock@redis,conditional@sql", "named-lock@redis"),
    ("store-silent", "token@redis,fenced@sql", "token@redis"),
    ("redis-evicts", "token@sql,fenced@sql", "token@sql"),
    ("redis-evicts-all", "lua@redis,fenced@sql", "lua@redis"),
    ("redis-full", "lua@redis,tcc@redis+sql", ""),
    ("disk-full", "setnx@redis,lua@redis", "setnx@redis"),
    ("pool-exhausted", "token@sql,conditional@sql", "token@sql"),
    (
        "sql-failover",
        "conditional@sql,two-phase@sql+sql",
        "conditional@sql,two-phase@sql+sql",
    ),
    ("lock-service-restart", "redlock@sql", "redlock@sql"),
    ("minority-restart", "zookeeper@sql", ""),
    ("majority-restart,majority-clock-jump", "redlock@sql", "redlock@sql"),
    ("leader-change", "zookeeper-checked@sql,etcd@sql", ""),
    (
        "redis-restart-clock-back",
        "token@sql,fenced@sql",
        "token@sql,fenced@sql",
    ),
    ("redis-restart-aof", "lua@redis", ""),
    ("redis-power-loss", "lua@redis,fenced@sql", "lua@redis"),
    ("redis-power-loss-synced", "lua@redis", ""),
    ("sql-power-loss", "conditional@sql", ""),
    ("sql-power-loss-unsynced", "conditional@sql", "conditional@sql"),
    ("minority-clock-jump", "redlock@sql", ""),
    ("cluster-failover", "lua@cluster", "lua@cluster"),
    ("slot-migration", "lua@cluster,token@cluster", ""),
    ("node-cut-off", "token@cluster,lua@cluster", "token@cluster"),
];

/// The faults of messages, which reach every service of a strategy.
const OF_MESSAGES: [&str; 3] = ["slow-network", "lost-reply", "store-silent"];

/// What became of strategies under one threat.
#[derive(Default)]
struct Played {
    fallen: BTreeSet<String>,
    undecided: BTreeMap<String, Value>,
    status: Option<i32>,
}

/// Plays a round of each of these strategies under these threats, and of those once more that a round leaves undecided or
/// that do not fall as expected: on a busy machine a fault may miss its moment. A lease may also end under a holder that gets no
/// processor there, so a strategy that rests on one and is to hold falls when it falls twice.
fn played(threat: &str, strategies: &str, to_fall: &BTreeSet<String>) -> Played {
    let mut played = Played::default();
    let mut fell_once = BTreeSet::new();
    let mut left = strategies.to_owned();
    for _ in 0..TRIES {
        let results = tempfile::tempdir().unwrap();
        let folder = results.path().to_str().unwrap();
        let trial = ["run", "--results", folder, "--strategy", &left, "--threat", threat];
        let ran = output(&[&trial[..], &["--instances", "2", "--repeat", "1", "--json"]].concat());
        let run: Value = serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| panic!("{threat}: {}", stderr(&ran)));
        run["rounds"].as_array().unwrap().iter().for_each(assert_it_struck);
        let (first_falls, fallen): (BTreeSet<_>, BTreeSet<_>) =
            of(&run, "violated").into_keys().partition(|strategy| {
                let is_sure = to_fall.contains(strategy) || !rests_on_a_lease(strategy);
                !is_sure && fell_once.insert(strategy.clone())
            });
        played.fallen.extend(fallen);
        (played.undecided, played.status) = (of(&run, "inconclusive"), ran.status.code());
        if !first_falls.is_empty() || !played.fallen.is_subset(to_fall) {
            let kept = result_json(results.path()).unwrap();
            eprintln!("{}", stdout(&output(&["report", kept.to_str().unwrap(), "--story"])));
        }
        let still_up = to_fall.difference(&played.fallen);
        let again: BTreeSet<_> = played
            .undecided
            .keys()
            .chain(still_up)
            .chain(&first_falls)
            .cloned()
            .collect();
        if again.is_empty() {
            break;
        }
        left = again.into_iter().collect::<Vec<_>>().join(",");
    }
    played
}

fn rests_on_a_lease(strategy: &str) -> bool {
    ["token@", "watchdog@", "redlock@"]
        .iter()
        .any(|guard| strategy.starts_with(guard))
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

/// Asserts that a round that decided something names what its fault struck, and all of it where every service is to be.
fn assert_it_struck(round: &Value) {
    if round["verdict"] == "inconclusive" {
        return;
    }
    let proofs = round["struck"].as_array().into_iter().flatten();
    let named = proofs.map(|proof| proof["service"].as_str().unwrap());
    // Without the number of a process.
    let struck: BTreeSet<_> = named.map(|name| name.split('/').next().unwrap()).collect();
    let (strategy, threat) = (round["strategy"].as_str().unwrap(), round["threat"].as_str().unwrap());
    assert!(!struck.is_empty(), "{strategy}, {threat}");
    if OF_MESSAGES.contains(&threat) {
        assert_eq!(struck, services(strategy), "{strategy}, {threat}");
    }
}

/// Returns the stores of a strategy of the cells and the service of its lock.
fn services(strategy: &str) -> BTreeSet<&str> {
    let (name, stores) = strategy.split_once('@').unwrap();
    let lock = match name {
        "token" | "watchdog" | "fenced" if stores != "cluster" => Some("redis"),
        "redlock" => Some("redis-nodes"),
        "zookeeper" => Some("zookeeper"),
        _ => None,
    };
    stores.split('+').chain(lock).collect()
}

#[test]
fn each_fault_has_a_cell_here_or_in_a_lab() {
    let cells = OF_THE_SHOP.iter().chain(OF_SERVERS);
    let mut named: BTreeSet<&str> = cells.flat_map(|(threats, ..)| threats.split(',')).collect();
    let labs = workshop::all().unwrap();
    let of_labs = labs.iter().filter_map(|lab| lab.settings.play.as_ref());
    named.extend(of_labs.flat_map(|play| play.all_threats()));
    let faults = threats::all().iter().filter(|threat| threat.injection.is_some());
    let missing: Vec<&str> = faults
        .map(|threat| threat.name)
        .filter(|fault| !named.contains(fault))
        .collect();
    assert_eq!(missing, [""; 0]);
}

#[test]
fn a_fault_of_the_shop_breaks_the_strategies_that_the_literature_names_and_no_others() {
    OF_THE_SHOP.iter().for_each(assert_is_as_known);
}

#[test]
fn a_fault_of_a_server_breaks_the_strategies_that_the_literature_names_and_no_others() {
    OF_SERVERS.iter().for_each(assert_is_as_known);
}

fn assert_is_as_known((threat, strategies, fallen): &(&str, &str, &str)) {
    let fallen = fallen.split(',').filter(|name| !name.is_empty());
    let fallen = fallen.map(str::to_owned).collect();
    let played = played(threat, strategies, &fallen);
    assert_eq!(played.undecided, BTreeMap::new(), "{threat}");
    assert_eq!(played.fallen, fallen, "{threat}");
    assert_eq!(played.status, Some(0), "{threat}");
}
