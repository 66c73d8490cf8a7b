//! Read, compute, write in one transaction: the second of two writes wins, and the first is lost.
//!
//! ```text
//! A: begin; select num           -- 1
//!                     B: begin; select num                     -- 1
//! A: update ... set num = 0 where id = ?; insert order; commit
//!                     B: update ... set num = 0 where id = ?; insert order; commit   -- oversold
//! ```
//!
//! REPEATABLE READ promises that a transaction's reads do not change, not that other transactions do not write. A
//! setting decides whether B's update succeeds: here `innodb_snapshot_isolation` is off, the default up to MariaDB
//! 11.5. Source: tutorial 000, whose a and b are transactions; the order in them is ours. Cost: five round trips.

use std::sync::Arc;

use async_trait::async_trait;

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Probe, Step};
use crate::stores::Sql;
use crate::stores::sql::{BEGIN, COMMIT, CONNECT, READ, RECORD, ROLLBACK, WRITE, query};

pub(super) const STEPS: &[Step] = &[CONNECT, BEGIN, READ, WRITE, RECORD, COMMIT, ROLLBACK];

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "lost-update",
        family: Family::NoLock,
        lesson: 1,
        summary: "select num, then update ... set num = ?, in one transaction",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("lost_update.rs"),
    },
    stores: &["sql", "pg"],
    steps: STEPS,
    open: |world, store| Box::pin(async move { opened(LostUpdate { sql: world.sql(store)? }) }),
};

pub(super) struct LostUpdate {
    pub(super) sql: Arc<Sql>,
}

#[async_trait]
impl Strategy for LostUpdate {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        let mut sql = self.sql.begun(purchase, probe).await?;
        let select = query("select num from store where id = ?").bind(purchase.item.as_str());
        let sold = self.sql.read_then_set(&READ, select, (purchase, probe), &mut sql).await;
        let outcome = self.sql.outcome(sold, (purchase, probe), sql).await?;
        Ok(outcome.unwrap_or(Outcome::Busy))
    }
}
