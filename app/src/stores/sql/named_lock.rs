//! GET_LOCK: a lock that belongs to a connection and ends with it.

use std::time::Duration;

use sqlx::mysql::MySqlRow;
use sqlx::{Row, query};

use super::{Connection, Sql};
use crate::domain::{Error, Name};
use crate::probe::{Data, Probe, Role, Step, StepValue};

/// Waits for the lock in the server.
pub const GET_LOCK: Step = Step::command("get-lock", &["select"])
    .writes(Data::LOCK)
    .plays(Role::Lock);
/// Releases the lock.
pub const RELEASE_LOCK: Step = Step::command("release-lock", &["select"])
    .writes(Data::LOCK)
    .plays(Role::Release);

impl Sql {
    /// Waits for the lock of that name, at most for `wait`. Returns whether it was taken.
    ///
    /// # Errors
    /// When MariaDB does not answer.
    pub async fn get_lock(name: &Name, wait: Duration, probe: &Probe, sql: &mut Connection) -> Result<bool, Error> {
        let get_lock = query("select get_lock(?, ?)")
            .bind(name.as_str())
            .bind(wait.as_secs_f64());
        let row = probe.step(&GET_LOCK, name, sql.fetch(get_lock), taken).await?;
        Ok(answer(row.as_ref()))
    }

    /// Releases the lock of that name. Returns whether this connection still held it.
    ///
    /// # Errors
    /// When MariaDB does not answer.
    pub async fn release_lock(name: &Name, probe: &Probe, sql: &mut Connection) -> Result<bool, Error> {
        let release = query("select release_lock(?)").bind(name.as_str());
        let row = probe.step(&RELEASE_LOCK, name, sql.fetch(release), result).await?;
        Ok(answer(row.as_ref()))
    }
}

/// Returns whether the function answered 1. Both functions answer 1, 0, or null.
fn answer(row: Option<&MySqlRow>) -> bool {
    row.is_some_and(|row| matches!(row.try_get::<Option<i64>, _>(0), Ok(Some(1))))
}

fn taken(row: &Option<MySqlRow>) -> StepValue {
    StepValue::Taken(answer(row.as_ref()))
}

fn result(row: &Option<MySqlRow>) -> &'static str {
    if answer(row.as_ref()) { "1" } else { "0" }
}
