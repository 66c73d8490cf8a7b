//! A Redis Cluster: how it serves, how a primary dies, and how a slot moves.
#![allow(clippy::unwrap_used, reason = "a test that fails may panic")]

use redis::{Client, Connection, RedisResult, cmd};
use stack::{ServiceKind, Stores};

mod world;

const KEY: &str = "stock:{sku-1}";

fn cluster() -> (Stores, Vec<String>) {
    let mut stores = world::no_stores();
    let urls = stores.start_service("cluster", true).unwrap().to_vec();
    (stores, urls)
}

fn connect(url: &str) -> Connection {
    Client::open(url).unwrap().get_connection().unwrap()
}

/// Returns the number of the one node that answers the command: all others send it elsewhere.
fn served(urls: &[String], command: &str, arguments: &[&str]) -> (usize, String) {
    let answers = urls.iter().map(|url| asked(url, command, arguments)).enumerate();
    let mut answers: Vec<_> = answers
        .filter_map(|(node, answer)| Some((node, answer.ok()?)))
        .collect();
    assert_eq!(answers.len(), 1, "one node answers {command}: {answers:?}");
    answers.remove(0)
}

fn asked(url: &str, command: &str, arguments: &[&str]) -> RedisResult<String> {
    cmd(command).arg(arguments).query(&mut connect(url))
}

#[test]
fn three_primaries_serve_all_slots_each_with_a_replica_and_only_with_the_password() {
    let (stores, urls) = cluster();
    assert_eq!((urls.len(), stores.processes(ServiceKind::Cluster).len()), (6, 6));
    for url in &urls {
        let state = asked(url, "CLUSTER", &["INFO"]).unwrap();
        let known = [
            "cluster_state:ok",
            "cluster_slots_ok:16384",
            "cluster_size:3",
            "cluster_known_nodes:6",
        ];
        assert!(known.iter().all(|line| state.contains(line)), "{state}");
        let nodes = asked(url, "CLUSTER", &["NODES"]).unwrap();
        assert_eq!(
            nodes.lines().filter(|line| line.contains("slave")).count(),
            3,
            "{nodes}"
        );
        let (_, address) = url.split_once('@').unwrap();
        let refused = asked(&format!("redis://{address}"), "CLUSTER", &["INFO"]).unwrap_err();
        assert_eq!(refused.code(), Some("NOAUTH"), "{refused}");
    }
    served(&urls, "SET", &[KEY, "7"]);
}

#[test]
fn the_replica_of_a_dead_primary_takes_over_without_the_writes_that_it_never_got() {
    let (stores, urls) = cluster();
    for (kept, lost) in [("7", "6"), ("5", "4")] {
        let (first, _) = served(&urls, "SET", &[KEY, kept]);
        let partition = stores.cut_off_cluster_replica(KEY).unwrap();
        asked(&urls[first], "SET", &[KEY, lost]).unwrap();
        let failover = stores.fail_over_cluster(partition).unwrap();
        assert!(failover.lost > 0);
        let (second, left) = served(&urls, "GET", &[KEY]);
        assert_ne!(second, first);
        assert_eq!(left, kept);
        let processes = stores.processes(ServiceKind::Cluster);
        assert_eq!(failover.serves, processes[second].pid());
        assert_ne!(
            failover.killed,
            processes[first].pid(),
            "a new process of the dead node runs"
        );
    }
}

#[test]
fn a_slot_moves_with_its_keys_and_its_clients_are_sent_after_them() {
    let (stores, urls) = cluster();
    let (source, _) = served(&urls, "SET", &[KEY, "7"]);
    served(&urls, "HSET", &["orders:{sku-1}", "a", "{}"]);
    let migration = stores.begin_slot_migration(KEY).unwrap();
    assert_eq!(migration.keys, 2);
    let refused = asked(&urls[source], "GET", &[KEY]).unwrap_err();
    assert_eq!(refused.code(), Some("ASK"), "{refused}");
    let redirected = stores.end_slot_migration(migration).unwrap();
    assert!(redirected >= 1);
    let refused = asked(&urls[source], "GET", &[KEY]).unwrap_err();
    assert_eq!(refused.code(), Some("MOVED"), "{refused}");
    let (target, left) = served(&urls, "GET", &[KEY]);
    assert_ne!(target, source);
    assert_eq!(left, "7");
    assert_eq!(
        stores.begin_slot_migration(KEY).unwrap().keys,
        2,
        "and it can move again"
    );
}

#[test]
fn an_instance_reaches_each_node_by_a_relay_of_its_own() {
    let (stores, urls) = cluster();
    let mut options = world::options(1);
    options.relays = vec![ServiceKind::Cluster];
    let shop = stores.shop(&options).unwrap();
    let relays = shop.relays_of(0, ServiceKind::Cluster);
    assert_eq!(relays.len(), urls.len());
    for (relay, url) in relays.iter().zip(&urls) {
        let at = relay.at().port().unwrap();
        let (password, node) = url.split_once('@').unwrap();
        let through = format!("{password}@{at}");
        let nodes = asked(&through, "CLUSTER", &["NODES"]).unwrap();
        let own = nodes.lines().find(|line| line.contains("myself")).unwrap();
        assert!(own.contains(node), "the relay at {at} leads to {own}");
    }
}
