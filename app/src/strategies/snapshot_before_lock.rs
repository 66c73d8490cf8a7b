//! A lock inside the transaction, taken after the first read: what is read under it is as old as that read.
//!
//! ```text
//! A: begin; find                          -- the first read opens the snapshot
//!                     B: begin; find                       -- B's snapshot, too
//! A: get-lock; select num                 -- 1
//! A: update ... set num = 0; insert order; commit; release-lock
//!                     B: get-lock; select num              -- 1: of B's snapshot, which is older than A's commit
//!                     B: update ... set num = 0; insert order; commit; release-lock    -- oversold
//! ```
//!
//! The lock is held from the read to after the commit, and does not help: in REPEATABLE READ every plain read sees the
//! snapshot of the first one. This happens when a framework opens the transaction and something is looked up before
//! the lock. The cure is to lock first, or to read with FOR UPDATE. No tutorial has it: it is ours. Cost: eight round
//! trips.

use std::sync::Arc;

use async_trait::async_trait;

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, AS_NO_LOCK, Claims, Family, Mechanism};
use crate::probe::Probe;
use crate::stores::Sql;
use crate::stores::sql::{BEGIN, COMMIT, CONNECT, FIND, GET_LOCK, READ, RECORD, RELEASE_LOCK, ROLLBACK, WRITE, query};
use crate::timeouts::Timeouts;

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "snapshot-before-lock",
        family: Family::SessionLock,
        lesson: 8,
        summary: "a named lock of the database around read, write and commit, in a transaction that has read before it",
        claims: AS_NO_LOCK,
        weak_at: "write",
        needs: &[],
        source: include_str!("snapshot_before_lock.rs"),
    },
    stores: &["sql"],
    steps: &[
        CONNECT,
        BEGIN,
        FIND,
        GET_LOCK,
        READ,
        WRITE,
        RECORD,
        COMMIT,
        ROLLBACK,
        RELEASE_LOCK,
    ],
    open: |world, store| {
        Box::pin(async move {
            opened(SnapshotBeforeLock {
                sql: world.sql(store)?,
                timeouts: world.timeouts,
            })
        })
    },
};

/// The same statements in PostgreSQL, whose default level is READ COMMITTED: each statement sees what is committed by then, so
/// the snapshot that breaks them is not there.
pub(super) const ON_POSTGRES: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        claims: Claims {
            like: Some(Family::SessionLock),
            // The lock ends with the connection, and the transaction with it: a purchase that lost the lock commits nothing.
            survives: &["paused-holder", "blocked-runtime", "store-silent"],
            ..AS_FAMILY
        },
        ..ENTRY.mechanism
    },
    stores: &["pg"],
    ..ENTRY
};

struct SnapshotBeforeLock {
    sql: Arc<Sql>,
    timeouts: Timeouts,
}

#[async_trait]
impl Strategy for SnapshotBeforeLock {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        let mut sql = self.sql.begun(purchase, probe).await?;
        // The mistake: this read opens the snapshot, and the lock comes after it.
        if let Some(order) = self.sql.find(purchase, probe, &mut sql).await? {
            self.sql.roll_back(purchase, probe, &mut sql).await?;
            return Ok(Outcome::Repeated(order));
        }
        if !Sql::get_lock(&purchase.item, self.timeouts.wait, probe, &mut sql).await? {
            self.sql.roll_back(purchase, probe, &mut sql).await?;
            return Ok(Outcome::Busy);
        }
        let select = query("select num from store where id = ?").bind(purchase.item.as_str());
        let sold = self.sql.read_then_set(&READ, select, (purchase, probe), &mut sql).await;
        // The outcome stands, even if the release fails: the lock then ends with its connection.
        if let Err(error) = Sql::release_lock(&purchase.item, probe, &mut sql).await {
            tracing::warn!(%error, item = %purchase.item, "the lock was not released");
        }
        let outcome = self.sql.outcome(sold, (purchase, probe), sql).await?;
        Ok(outcome.unwrap_or(Outcome::Busy))
    }
}
