//! A row as a lock in its usual form: inserted to take the lock, deleted to release it. No owner, no expiry.
//!
//! ```text
//! A: insert (item) -> 1 row
//! A: (killed)
//!                     B: insert -> duplicate    -- and again, and again: nobody ever sells again
//! ```
//!
//! The unique key lets only one insert succeed. A duplicate does not block: tutorial 000, the source, leaves it at
//! that, and here a waiter tries again. Its key is the name of a method, ours is the item. The row outlives its holder
//! and every restart. Cost: two round trips, and one for each attempt while waiting.

use std::sync::Arc;

use async_trait::async_trait;

use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step};
use crate::stores::Sql;
use crate::stores::sql::{CONNECT, query, rows, taken};
use crate::timeouts::{PAUSE, Timeouts};

const INSERT: Step = Step::command("insert-bare-lock", &["insert"])
    .writes(Data::LOCK)
    .plays(Role::Lock);
const DELETE: Step = Step::command("delete-bare-lock", &["delete"])
    .writes(Data::LOCK)
    .plays(Role::Release);

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "lock-table-bare",
        family: Family::LockWithoutLease,
        lesson: 3,
        summary: "a row inserted under a unique key and deleted to release: no owner, no expiry",
        claims: Claims {
            survives: &["redis-restart", "redis-failover"],
            broken_by: &["sql-restart", "sql-gone"],
            ..AS_FAMILY
        },
        weak_at: "write",
        needs: &["sql"],
        source: include_str!("lock_table_bare.rs"),
    },
    steps: &[CONNECT, INSERT, PAUSE, DELETE],
    reentrant: false,
    open: |world, store| {
        Box::pin(async move {
            opened(LockTableBare {
                sql: world.locks_in(store)?,
                timeouts: world.timeouts,
            })
        })
    },
};

struct LockTableBare {
    sql: Arc<Sql>,
    timeouts: Timeouts,
}

impl LockTableBare {
    async fn attempt(&self, item: &Name, probe: &Probe) -> Result<bool, Error> {
        let mut sql = self.sql.connected(probe).await?;
        let insert = query("insert ignore into bare_locks (item) values (?)")
            .on_postgres("insert into bare_locks (item) values (?) on conflict do nothing")
            .bind(item.as_str());
        match probe.step(&INSERT, item, sql.execute(insert), taken).await {
            Ok(inserted) => Ok(inserted > 0),
            // MariaDB aborts all but one of the statements that wait for a row when it is deleted.
            Err(Error::GivenUp { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

#[async_trait]
impl Guard for LockTableBare {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let mut backoff = self.timeouts.backoff();
        while backoff.again(item, probe).await {
            if self.attempt(item, probe).await? {
                let (sql, item) = (self.sql.clone(), item.clone());
                return Ok(Some(Box::new(HeldLock { sql, item })));
            }
        }
        Ok(None)
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        let delete = || [query("delete from bare_locks where item = ?").bind(item.as_str())];
        self.sql.operate(delete).await
    }
}

struct HeldLock {
    sql: Arc<Sql>,
    item: Name,
}

#[async_trait]
impl Held for HeldLock {
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        let mut sql = self.sql.connected(probe).await?;
        let delete = query("delete from bare_locks where item = ?").bind(self.item.as_str());
        probe.step(&DELETE, &self.item, sql.execute(delete), rows).await?;
        Ok(Released::InTime)
    }
}
