//! The anomalies of the isolation levels, on both databases.

use explore::isolation::{Kept, play};

use crate::started;

/// The anomalies that each level lets happen, whole or for writes.
const ALLOWED: [(&str, &str, &[&str], &[&str]); 9] = [
    (
        "MariaDB",
        "read uncommitted",
        &["G1a", "G1b", "G1c", "OTV", "PMP", "P4", "G-single", "G2-item", "G2"],
        &[],
    ),
    (
        "MariaDB",
        "read committed",
        &["PMP", "P4", "G-single", "G2-item", "G2"],
        &[],
    ),
    (
        "MariaDB",
        "repeatable read, innodb_snapshot_isolation off",
        &["P4", "G2-item", "G2"],
        &["PMP", "G-single"],
    ),
    (
        "MariaDB",
        "repeatable read, innodb_snapshot_isolation on",
        &["G2-item", "G2"],
        &[],
    ),
    ("MariaDB", "serializable", &[], &[]),
    (
        "PostgreSQL",
        "read uncommitted",
        &["PMP", "P4", "G-single", "G2-item", "G2"],
        &[],
    ),
    (
        "PostgreSQL",
        "read committed",
        &["PMP", "P4", "G-single", "G2-item", "G2"],
        &[],
    ),
    ("PostgreSQL", "repeatable read", &["G2-item", "G2"], &[]),
    ("PostgreSQL", "serializable", &[], &[]),
];

#[tokio::test]
async fn each_isolation_level_lets_those_anomalies_happen_that_its_documentation_names() {
    let stores = started(&["redis", "sql", "pg"]);
    let seen = play(&stores).await.unwrap();
    assert_eq!(seen.len(), ALLOWED.len());
    for (at, (database, level, allowed, for_writes)) in seen.iter().zip(ALLOWED) {
        assert!(at.database.starts_with(database) && at.level == level, "{at:?}");
        let found = |kept| {
            let of_kind = at.anomalies.iter().filter(move |(_, found)| *found == kept);
            of_kind.map(|(name, _)| name.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(found(Kept::Allowed), allowed, "{database}, {level}");
        assert_eq!(found(Kept::PreventedForReads), for_writes, "{database}, {level}");
    }
}
