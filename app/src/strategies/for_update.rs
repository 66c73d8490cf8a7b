//! The pessimistic row lock: a transaction that reads the row locks it, until the transaction ends.
//!
//! ```text
//! A: begin; select num ... for update     -- 1; A has locked the row
//!                     B: begin; select num ... for update, BLOCKS
//! A: update ... set num = 0, insert order, commit
//!                     B: unblocked          -- 0, sold out
//! ```
//!
//! A locked number cannot become stale. The lock ends with its transaction, also when the holder dies. The holder and
//! each waiter occupy a connection for that time. Source: tutorial 000, which locks the row of an order; here it is
//! that of the stock. It warns of two deadlocks. A missing row cannot be locked: several transactions lock its gap at
//! once, and two that then insert the row wait for each other. So do two that lock several rows in different orders.
//! MariaDB aborts one of them. Here the locked row is there, and each purchase locks it before its order. Cost: five
//! round trips, the row locked for four.

use std::sync::Arc;

use async_trait::async_trait;

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step};
use crate::stores::Sql;
use crate::stores::sql::{BEGIN, COMMIT, CONNECT, READ, RECORD, ROLLBACK, WRITE, query};
use crate::timeouts::{PAUSE, Timeouts};

pub(super) const LOCK_ROW: Step = Step::command("lock-row", &["select"])
    .reads(Data::ALL)
    .writes(Data::STOCK)
    .plays(Role::Read);

/// Returns the steps; `lock_row` is the one that reads the counter.
pub(super) const fn steps(lock_row: Step) -> [Step; 9] {
    [CONNECT, BEGIN, lock_row, WRITE, RECORD, COMMIT, ROLLBACK, READ, PAUSE]
}

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "for-update",
        family: Family::RowLock,
        lesson: 8,
        summary: "select ... for update, then update, in one transaction with the order",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("for_update.rs"),
    },
    stores: &["sql", "pg"],
    steps: &steps(LOCK_ROW),
    open: |world, store| {
        Box::pin(async move {
            opened(ForUpdate {
                sql: world.sql(store)?,
                timeouts: world.timeouts,
                lock_row: LOCK_ROW,
                select: "select num from store where id = ? for update",
            })
        })
    },
};

pub(super) struct ForUpdate {
    pub(super) sql: Arc<Sql>,
    pub(super) timeouts: Timeouts,
    /// The step that runs `select`.
    pub(super) lock_row: Step,
    /// Reads the counter of an item, and locks every row that it examines.
    pub(super) select: &'static str,
}

impl ForUpdate {
    /// Makes one attempt; `None` when the database aborted it.
    async fn attempt(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<Outcome>, Error> {
        let mut sql = self.sql.begun(purchase, probe).await?;
        let select = query(self.select).bind(purchase.item.as_str());
        let sold = self
            .sql
            .read_then_set(&self.lock_row, select, (purchase, probe), &mut sql)
            .await;
        self.sql.outcome(sold, (purchase, probe), sql).await
    }
}

#[async_trait]
impl Strategy for ForUpdate {
    /// Two of these purchases cannot deadlock. With other statements one can, and then starts again.
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
