//! An advisory lock of PostgreSQL that ends with its transaction: nobody can release it too early or forget it.
//!
//! ```text
//! A: begin; advisory-lock         -- granted
//!                     B: begin; advisory-lock, BLOCKS
//! A: read num; write num = 0; record; commit   -- the commit also releases the lock
//!                     B: unblocked; read num   -- 0, sold out
//! ```
//!
//! `named-lock` and `unlock-before-commit` hold a lock of the session, which has to be released by a statement of its own,
//! before or after the commit. In READ COMMITTED B's read sees what A committed; in REPEATABLE READ its snapshot would be
//! older than the lock. The lock's name is a number: two items whose names have the same hash wait for each other.
//! Cost: six round trips, the lock held for five.

use std::sync::Arc;

use async_trait::async_trait;

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step, StepValue};
use crate::stores::Sql;
use crate::stores::sql::{BEGIN, COMMIT, CONNECT, Connection, READ, RECORD, ROLLBACK, WRITE, query};

const ADVISORY_LOCK: Step = Step::command("advisory-lock", &["select"])
    .writes(Data::LOCK)
    .plays(Role::Lock);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "advisory-xact-lock",
        family: Family::RowLock,
        lesson: 8,
        summary: "pg_advisory_xact_lock, then read and write, in one transaction with the order",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("advisory_xact_lock.rs"),
    },
    stores: &["pg"],
    steps: &[CONNECT, BEGIN, ADVISORY_LOCK, READ, WRITE, RECORD, COMMIT, ROLLBACK],
    open: |world, store| Box::pin(async move { opened(AdvisoryXactLock { sql: world.sql(store)? }) }),
};

struct AdvisoryXactLock {
    sql: Arc<Sql>,
}

impl AdvisoryXactLock {
    /// Sells and returns the units left; `None` when it does not sell.
    async fn sell(&self, purchase: &Purchase, probe: &Probe, sql: &mut Connection) -> Result<Option<i64>, Error> {
        let lock = query("select 1::bigint from pg_advisory_xact_lock(hashtextextended(?, 0))");
        let lock = sql.fetch(lock.bind(purchase.item.as_str()));
        let taken = probe.step(&ADVISORY_LOCK, &purchase.item, lock, |row| {
            StepValue::Taken(row.is_some())
        });
        taken.await?;
        let select = query("select num from store where id = ?").bind(purchase.item.as_str());
        self.sql.read_then_set(&READ, select, (purchase, probe), sql).await
    }
}

#[async_trait]
impl Strategy for AdvisoryXactLock {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        let mut sql = self.sql.begun(purchase, probe).await?;
        let sold = self.sell(purchase, probe, &mut sql).await;
        let outcome = self.sql.outcome(sold, (purchase, probe), sql).await?;
        Ok(outcome.unwrap_or(Outcome::Busy))
    }
}
