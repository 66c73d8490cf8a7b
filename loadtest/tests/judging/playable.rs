//! What is not playable in containers, as the document says it.

use loadtest::deployment::requirement::Requirement;
use loadtest::shop::catalogue::Strategy;
use loadtest::threats;
use serde_json::json;
use stack::ServiceKind;

/// What deploy/compose/faults.yml does not offer.
const MISSING: [Requirement; 6] = [
    Requirement::Settings(ServiceKind::Sql),
    Requirement::Replica(ServiceKind::Sql),
    Requirement::Replica(ServiceKind::Pg),
    Requirement::Ensemble(ServiceKind::ZooKeeper),
    Requirement::Ensemble(ServiceKind::Etcd),
    Requirement::Service(ServiceKind::Etcd),
];

/// Strategies that use every service.
fn strategies() -> Vec<Strategy> {
    let all = [
        ("token@sql", "sql", "lease-lock", &["redis", "sql"][..]),
        ("zookeeper@redis", "redis", "session-lock", &["redis", "zookeeper"]),
        ("etcd@redis", "redis", "lease-lock", &["redis", "etcd"]),
        ("redlock@redis", "redis", "lease-lock", &["redis", "redis-nodes"]),
        ("conditional@pg", "pg", "atomic", &["pg"]),
        ("lua@cluster", "cluster", "atomic", &["cluster"]),
    ];
    let strategies = all.map(|(name, store, family, needs)| {
        let strategy = json!({ "name": name, "store": store, "family": family, "needs": needs, "claims": [],
            "worker_steps": ["receive"] });
        serde_json::from_value(strategy).unwrap_or_else(|why| panic!("{name}: {why}"))
    });
    strategies.into()
}

#[test]
fn the_document_names_every_threat_that_is_not_playable_in_containers_with_the_reason() {
    let document = include_str!("../../../docs/runs.md");
    let needs = |threat: &threats::Threat, missing: Requirement| {
        let mut concerned = strategies().into_iter().filter(|strategy| (threat.is_about)(strategy));
        concerned.any(|strategy| (threat.requires)(&strategy).contains(&missing))
    };
    let mut rows: Vec<(String, Vec<&str>)> = Vec::new();
    for missing in MISSING {
        let why = missing.out_of_reach();
        let all = threats::all().iter().filter(|threat| needs(threat, missing));
        let names = all.map(|threat| threat.name);
        match rows.iter_mut().find(|(known, _)| *known == why) {
            Some((_, named)) => named.extend(names),
            None => rows.push((why, names.collect())),
        }
    }
    let rows = rows
        .iter()
        .map(|(why, names)| format!("| `{}` | {why} |\n", names.join("`, `")));
    let lines: String = rows.collect();
    let table = format!("| not playable in containers | why |\n|---|---|\n{lines}\n");
    assert!(document.contains(&table), "docs/runs.md lacks this table:\n{table}");
}
