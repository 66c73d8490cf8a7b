//! REPEATABLE READ of PostgreSQL: an update of a row that has changed since the snapshot is refused.
//!
//! ```text
//! A: begin; isolate; read num    -- 1
//!                     B: begin; isolate; read num              -- 1, of the same moment
//! A: write num = 0; record; commit
//!                     B: write num = 0 -- "could not serialize access due to concurrent update"; rollback
//!                     B: begin; isolate; read num              -- 0, sold out
//! ```
//!
//! The same statements oversell in MariaDB (`lost-update`), where this level keeps reads as they were and lets the update
//! overwrite, unless `innodb_snapshot_isolation` is on (`lost-update-snapshot`). Here the first writer wins, and each other
//! has to try again, so a crowd of n needs about n rounds. Cost: six round trips per attempt.

use super::serializable::{AtLevel, STEPS};
use super::{NativeEntry, opened};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::stores::sql::Isolation;

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "repeatable-read",
        family: Family::Optimistic,
        lesson: 8,
        summary: "isolation level REPEATABLE READ of PostgreSQL, retried after each refusal",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("repeatable_read.rs"),
    },
    stores: &["pg"],
    steps: STEPS,
    open: |world, store| {
        Box::pin(async move {
            opened(AtLevel {
                sql: world.sql(store)?,
                timeouts: world.timeouts,
                level: Isolation::RepeatableRead,
            })
        })
    },
};
