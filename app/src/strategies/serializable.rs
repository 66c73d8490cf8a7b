//! SERIALIZABLE: plain read and write; the database makes the outcome that of some serial order.
//!
//! ```text
//! A: begin; select num          -- 1; a shared lock on the row
//!                     B: begin; select num                   -- 1; shared, too
//! A: update ... set num = 0, BLOCKS
//!                     B: update ...         -- waits for A, which waits for B: error 1213, rolled back
//! A: unblocked; insert order, commit
//!                     B: select num         -- 0, sold out
//! ```
//!
//! InnoDB turns each plain read into a locking read. Two transactions that write a row which both have read always end
//! in a deadlock, so a client of SERIALIZABLE must be ready to retry. PostgreSQL locks no row for a read: it lets both go
//! on, and refuses B's update or B's commit with "could not serialize access". Cost: six round trips per attempt.

use std::sync::Arc;

use async_trait::async_trait;

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Probe, Step};
use crate::stores::Sql;
use crate::stores::sql::{BEGIN, COMMIT, CONNECT, ISOLATE, Isolation, READ, RECORD, ROLLBACK, WRITE, query};
use crate::timeouts::{PAUSE, Timeouts};

pub(super) const STEPS: &[Step] = &[CONNECT, ISOLATE, BEGIN, READ, WRITE, RECORD, COMMIT, ROLLBACK, PAUSE];

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "serializable",
        family: Family::RowLock,
        lesson: 8,
        summary: "isolation level SERIALIZABLE, retried after each deadlock or refusal",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("serializable.rs"),
    },
    stores: &["sql", "pg"],
    steps: STEPS,
    open: |world, store| {
        Box::pin(async move {
            opened(AtLevel {
                sql: world.sql(store)?,
                timeouts: world.timeouts,
                level: Isolation::Serializable,
            })
        })
    },
};

/// Plain read and write in a transaction of a level, retried for as long as a purchase waits.
pub(super) struct AtLevel {
    pub(super) sql: Arc<Sql>,
    pub(super) timeouts: Timeouts,
    pub(super) level: Isolation,
}

impl AtLevel {
    /// Makes one attempt; `None` when the database aborted it.
    async fn attempt(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<Outcome>, Error> {
        let mut sql = self.sql.begun_at(self.level, purchase, probe).await?;
        let select = query("select num from store where id = ?").bind(purchase.item.as_str());
        let sold = self.sql.read_then_set(&READ, select, (purchase, probe), &mut sql).await;
        self.sql.outcome(sold, (purchase, probe), sql).await
    }
}

#[async_trait]
impl Strategy for AtLevel {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        let mut backoff = self.timeouts.backoff();
        while backoff.again(&purchase.item, probe).await {
            if let Some(outcome) = self.attempt(purchase, probe).await? {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Busy)
    }
}
