//! A lock inside the transaction, released after the work and before the commit.
//!
//! ```text
//! A: begin; get-lock; select num          -- 1
//! A: update ... set num = 0; release-lock
//!                     B: begin; get-lock; select num       -- 1: what A wrote is not committed
//! A: insert order; commit
//!                     B: update ... set num = 0; release-lock; insert order; commit    -- after A's commit: oversold
//! ```
//!
//! This happens when a method takes the lock and a transaction is opened around the method. The release lets the next
//! waiter in, which reads while the order and the commit are on their way: almost each time. The cure is to commit
//! first, and then to release. Cost: seven round trips.

use std::sync::Arc;

use async_trait::async_trait;

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Outcome, Purchase};
use crate::mechanism::{AS_NO_LOCK, Family, Mechanism};
use crate::probe::{Probe, Step};
use crate::stores::Sql;
use crate::stores::sql::{
    BEGIN, COMMIT, CONNECT, Connection, GET_LOCK, READ, RECORD, RELEASE_LOCK, ROLLBACK, WRITE, query,
};
use crate::timeouts::Timeouts;

pub(super) const STEPS: &[Step] = &[
    CONNECT,
    BEGIN,
    GET_LOCK,
    READ,
    WRITE,
    RELEASE_LOCK,
    RECORD,
    COMMIT,
    ROLLBACK,
];

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "unlock-before-commit",
        family: Family::SessionLock,
        lesson: 8,
        summary: "a named lock of the database around read and write, released before the transaction commits",
        claims: AS_NO_LOCK,
        weak_at: "commit",
        needs: &[],
        source: include_str!("unlock_before_commit.rs"),
    },
    stores: &["sql", "pg"],
    steps: STEPS,
    open: |world, store| {
        Box::pin(async move {
            opened(UnlockBeforeCommit {
                sql: world.sql(store)?,
                timeouts: world.timeouts,
            })
        })
    },
};

pub(super) struct UnlockBeforeCommit {
    pub(super) sql: Arc<Sql>,
    pub(super) timeouts: Timeouts,
}

impl UnlockBeforeCommit {
    /// Sells and returns the units left; `None` when it does not sell.
    async fn sell(&self, purchase: &Purchase, probe: &Probe, sql: &mut Connection) -> Result<Option<i64>, Error> {
        let remaining = self.write_in_lock(purchase, probe, sql).await;
        let released = Sql::release_lock(&purchase.item, probe, sql).await;
        // The first error decides the outcome of the purchase.
        let remaining = remaining?;
        released?;
        let Some(remaining) = remaining else { return Ok(None) };
        if !self.sql.record(purchase, probe, sql).await? {
            return Ok(None);
        }
        self.sql.commit(purchase, probe, sql).await?;
        Ok(Some(remaining))
    }

    /// Reads and writes the stock under the lock, and returns the units left; `None` when there are too few.
    async fn write_in_lock(
        &self,
        purchase: &Purchase,
        probe: &Probe,
        sql: &mut Connection,
    ) -> Result<Option<i64>, Error> {
        let select = query("select num from store where id = ?").bind(purchase.item.as_str());
        let found = self.sql.left(&READ, select, (purchase, probe), sql).await?;
        let remaining = found.unwrap_or(0) - i64::from(purchase.quantity);
        if remaining < 0 {
            return Ok(None);
        }
        probe.work().await;
        let written = self.sql.set(remaining, purchase, probe, sql).await?;
        Ok(written.then_some(remaining))
    }
}

#[async_trait]
impl Strategy for UnlockBeforeCommit {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        let mut sql = self.sql.begun(purchase, probe).await?;
        if !Sql::get_lock(&purchase.item, self.timeouts.wait, probe, &mut sql).await? {
            self.sql.roll_back(purchase, probe, &mut sql).await?;
            return Ok(Outcome::Busy);
        }
        let sold = self.sell(purchase, probe, &mut sql).await;
        let outcome = self.sql.outcome(sold, (purchase, probe), sql).await?;
        Ok(outcome.unwrap_or(Outcome::Busy))
    }
}
