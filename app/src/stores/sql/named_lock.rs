//! A lock that belongs to a connection and ends with it: GET_LOCK of MariaDB, and an advisory lock of PostgreSQL, whose name
//! is a number, so that two items may share one lock.

use std::time::Duration;

use super::{Connection, Row, Sql, query};
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
    /// When the database does not answer.
    pub async fn get_lock(name: &Name, wait: Duration, probe: &Probe, sql: &mut Connection) -> Result<bool, Error> {
        // PostgreSQL waits for as long as the connection waits for a row.
        let get_lock = query("select get_lock(?, ?)")
            .on_postgres("select 1::bigint from pg_advisory_lock(hashtextextended(?, 0))")
            .bind(name.as_str())
            .bind(wait.as_secs_f64());
        match probe.step(&GET_LOCK, name, sql.fetch(get_lock), taken).await {
            Ok(row) => Ok(answer(row.as_ref())),
            Err(Error::GivenUp { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Releases the lock of that name. Returns whether this connection still held it.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn release_lock(name: &Name, probe: &Probe, sql: &mut Connection) -> Result<bool, Error> {
        let release = query("select release_lock(?)")
            .on_postgres("select pg_advisory_unlock(hashtextextended(?, 0))::int::bigint")
            .bind(name.as_str());
        let released = probe.step(&RELEASE_LOCK, name, sql.fetch(release), result).await;
        // PostgreSQL refuses every statement of a transaction that has failed, this one too.
        sql.0.holds_lock = released.is_err();
        Ok(answer(released?.as_ref()))
    }
}

/// Returns whether the function answered 1. Both functions answer 1, 0, or null.
fn answer(row: Option<&Row>) -> bool {
    row.is_some_and(|row| matches!(row.try_get::<Option<i64>>(0), Ok(Some(1))))
}

fn taken(row: &Option<Row>) -> StepValue {
    StepValue::Taken(answer(row.as_ref()))
}

fn result(row: &Option<Row>) -> &'static str {
    if answer(row.as_ref()) { "1" } else { "0" }
}
