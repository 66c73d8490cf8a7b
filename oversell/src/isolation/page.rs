//! The page of the levels: tables of what was played, and where they differ from Hermitage's.

use std::fmt::Write;

use explore::isolation::{ANOMALIES, AtLevel, DEFAULTS, Explored, Kept, MECHANISMS};

use super::Isolation;

/// Hermitage's summary, for MySQL 5.6 and PostgreSQL 9.3: database, level, and one sign for each anomaly.
const PUBLISHED: [(&str, &str, [&str; 10]); 7] = [
    (
        "MariaDB",
        "read uncommitted",
        ["✓", "—", "—", "—", "—", "—", "—", "—", "—", "—"],
    ),
    (
        "MariaDB",
        "read committed",
        ["✓", "✓", "✓", "✓", "✓", "—", "—", "—", "—", "—"],
    ),
    (
        "MariaDB",
        "repeatable read",
        ["✓", "✓", "✓", "✓", "✓", "R/O", "—", "R/O", "—", "—"],
    ),
    (
        "MariaDB",
        "serializable",
        ["✓", "✓", "✓", "✓", "✓", "✓", "✓", "✓", "✓", "✓"],
    ),
    (
        "PostgreSQL",
        "read committed",
        ["✓", "✓", "✓", "✓", "✓", "—", "—", "—", "—", "—"],
    ),
    (
        "PostgreSQL",
        "repeatable read",
        ["✓", "✓", "✓", "✓", "✓", "✓", "✓", "✓", "—", "—"],
    ),
    (
        "PostgreSQL",
        "serializable",
        ["✓", "✓", "✓", "✓", "✓", "✓", "✓", "✓", "✓", "✓"],
    ),
];

const HEAD: &str = "\
# Isolation levels

The same statements oversell on one database and not on the other, since the same name of a level means two things. Both tables
come from runs: `oversell isolation` plays them again in some minutes.

## What each level lets happen

A script plays each anomaly with two or three transactions, in a fixed order; a statement that waits for a lock lets the others go
on. ✓: it did not happen. —: it happened. R/O: it happened only where a transaction writes by a predicate that it has read.

";

const MECHANISMS_HEAD: &str = "
## The same six mechanisms at each level

Every interleaving of two purchases of the last unit with at most two preemptions. A cell says how many of them break a promise, and
how many there are. The level is that of the server: the mechanisms ask for none. Not played: at SERIALIZABLE MariaDB locks the gap
in which an order would stand that is not there. Order ids are random, so it is random who waits there.

";

const READING: &str = "
How to read it:

- `lost-update` reads, works and writes. MariaDB keeps its read as it was and lets the write overwrite, at every level below
  SERIALIZABLE. PostgreSQL refuses the write from REPEATABLE READ on: the second buyer is told to try again.
- `for-update`, `conditional` and `compare-num` decide under the lock of the row, or in the statement that writes: no level is too
  weak for them.
- `snapshot-before-lock` reads before it has its lock. In MariaDB's REPEATABLE READ, its default, it then decides by the old
  snapshot. In READ COMMITTED, the default of PostgreSQL, each statement has a snapshot of its own, and the mistake does no harm. In
  PostgreSQL's REPEATABLE READ the snapshot is as old, but the write is refused.
- `retry-in-snapshot` writes only if the number is still the one that was read, so it does not oversell at any level. In MariaDB's
  REPEATABLE READ it reads the same number again and again, and sells nothing until its time is over.
";

/// Returns the page in Markdown.
pub(super) fn page(isolation: &Isolation) -> String {
    let mut page = HEAD.to_owned();
    let names: Vec<_> = ANOMALIES.iter().map(|anomaly| anomaly.name).collect();
    let _ = writeln!(page, "| database | level | {} |", names.join(" | "));
    let _ = writeln!(page, "|---|---|{}", ":-:|".repeat(names.len()));
    for at in &isolation.anomalies {
        let signs: Vec<_> = at.anomalies.iter().map(|(_, kept)| sign(*kept)).collect();
        let _ = writeln!(page, "| {} | {} | {} |", at.database, at.level, signs.join(" | "));
    }
    page.push('\n');
    for anomaly in ANOMALIES {
        let _ = writeln!(page, "- {}: {}", anomaly.name, anomaly.title);
    }
    page.push_str(&beside_hermitage(&isolation.anomalies));
    page.push_str(MECHANISMS_HEAD);
    for (store, database) in [("sql", "MariaDB"), ("pg", "PostgreSQL")] {
        page.push_str(&mechanisms(&isolation.mechanisms, store, database));
    }
    page.push_str(READING);
    page
}

fn sign(kept: Kept) -> &'static str {
    match kept {
        Kept::Prevented => "✓",
        Kept::PreventedForReads => "R/O",
        Kept::Allowed => "—",
    }
}

/// Compares the levels that Hermitage has with its cells.
fn beside_hermitage(all: &[AtLevel]) -> String {
    let mut same = 0;
    let mut different = Vec::new();
    for at in all {
        let published = PUBLISHED
            .iter()
            .find(|(database, level, _)| at.database.starts_with(database) && at.level.starts_with(level));
        let Some((_, level, signs)) = published else { continue };
        for ((name, kept), published) in at.anomalies.iter().zip(signs) {
            if sign(*kept) == *published {
                same += 1;
            } else {
                let (database, seen) = (&at.database, sign(*kept));
                different.push(format!(
                    "- {database}, {}, {name}: {seen} here, {published} there ({level})",
                    at.level
                ));
            }
        }
    }
    let mut text = format!(
        "\n### Beside Hermitage's table\n\n\
         [Hermitage](https://github.com/ept/hermitage) played the same anomalies by hand on MySQL 5.6 and PostgreSQL 9.3. Of the \
         cells that both have, {same} are the same and {} differ.\n\n",
        different.len()
    );
    for line in &different {
        let _ = writeln!(text, "{line}");
    }
    if different
        .iter()
        .any(|line| line.contains("innodb_snapshot_isolation on"))
    {
        text.push_str(
            "\nMySQL has no `innodb_snapshot_isolation`. In MariaDB 10.11 it is off by default, from 11.6 on it is on: a \
             transaction may then not write a row that has changed since its snapshot, and gets an error instead. That makes \
             REPEATABLE READ what PostgreSQL has under that name, snapshot isolation.\n",
        );
    }
    text.push_str("\nPostgreSQL takes READ UNCOMMITTED for READ COMMITTED; Hermitage has no row for it.\n");
    text
}

fn mechanisms(all: &[Explored], store: &str, database: &str) -> String {
    let mut text = format!(
        "| {database} | {} |\n|---|{}\n",
        DEFAULTS.join(" | "),
        "---|".repeat(DEFAULTS.len())
    );
    for mechanism in MECHANISMS {
        let strategy = format!("{mechanism}@{store}");
        let cells = DEFAULTS.map(|level| {
            let found = all.iter().find(|one| one.strategy == strategy && one.level == level);
            found.map_or("not played".to_owned(), cell)
        });
        let _ = writeln!(text, "| `{strategy}` | {} |", cells.join(" | "));
    }
    text.push('\n');
    text
}

fn cell(explored: &Explored) -> String {
    let more = if explored.is_exhausted { "" } else { " and more" };
    match explored.violated {
        0 => format!("holds in all {}{more}", explored.schedules),
        violated => format!("**{violated}** of {}{more}", explored.schedules),
    }
}
