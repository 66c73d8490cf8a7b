//! The anomalies that each isolation level of MariaDB and of PostgreSQL lets happen, found by playing them.
//!
//! The anomalies and their short names are those of Adya's thesis and of Bailis and others; Hermitage
//! (<https://github.com/ept/hermitage>) plays them by hand. Here each statement is sent in the order of the script, unless its
//! session still waits for a lock: then the next session goes on, as it would in a shop.

mod anomalies;
mod database;
mod script;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use stack::Stores;

pub use self::anomalies::ANOMALIES;
use self::database::Database;
pub use self::database::{LEVELS, Level};

/// How far a level keeps an anomaly away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kept {
    /// It did not happen in any script.
    Prevented,
    /// It happened only where a transaction writes by the predicate that it has read.
    PreventedForReads,
    /// It happened.
    Allowed,
}

/// What the scripts of all anomalies showed at one level of one database.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AtLevel {
    /// `MariaDB` or `PostgreSQL`, with its version.
    pub database: String,
    /// The name of the level.
    pub level: String,
    /// Each anomaly by its short name, in the order of [`ANOMALIES`].
    pub anomalies: Vec<(String, Kept)>,
}

/// Plays every anomaly at every level, on the private servers of `stores`.
///
/// # Errors
/// When a server was not started or does not answer.
pub async fn play(stores: &Stores) -> Result<Vec<AtLevel>> {
    let mut all = Vec::new();
    for level in LEVELS {
        let database = Database::at(level, stores)?;
        let version = database.version().await?;
        let mut anomalies = Vec::new();
        for anomaly in ANOMALIES {
            let mut kept = Kept::Prevented;
            for script in anomaly.scripts {
                if !script.happens(&database).await? {
                    continue;
                }
                let only_writes = script.writes_by_predicate && kept != Kept::Allowed;
                kept = if only_writes {
                    Kept::PreventedForReads
                } else {
                    Kept::Allowed
                };
            }
            anomalies.push((anomaly.name.to_owned(), kept));
        }
        all.push(AtLevel {
            database: version,
            level: level.name.to_owned(),
            anomalies,
        });
    }
    Ok(all)
}
