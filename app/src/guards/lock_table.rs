//! A row as a lock: a unique key lets one insert succeed. The row has an owner, and an expiry by the server's clock.
//!
//! ```text
//! A: insert (item, a, now + 1 s) -> 1 row
//! A: (killed)
//!                     B: insert -> duplicate; update where expires_at < now -> 0 rows
//! (the lease ends)
//!                     B: insert -> duplicate; update where expires_at < now -> 1 row: taken over
//! ```
//!
//! A duplicate does not block, so a waiter has to retry. Of many waiters that find the row expired one takes it over:
//! for the others it is no longer expired. Each statement is its own transaction, and no connection is kept in
//! between. Like every lease it does not survive a holder that outlives it. Owner and expiry are ours: the tutorials
//! have the row without them (`lock-table-bare`).
//! Cost: two round trips, and two for each attempt while waiting.

use std::sync::Arc;

use async_trait::async_trait;
use uuid::Uuid;

use super::{Guard, GuardEntry, Held, Released, opened};
use crate::domain::{Error, Name};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step};
use crate::stores::Sql;
use crate::stores::sql::{CONNECT, query, rows, taken};
use crate::timeouts::{PAUSE, Timeouts};

const INSERT: Step = Step::command("insert-lock", &["insert"])
    .writes(Data::LOCK)
    .plays(Role::Lock);
const TAKE_OVER: Step = Step::command("take-over", &["update"])
    .writes(Data::LOCK)
    .plays(Role::Lock);
const DELETE: Step = Step::command("delete-lock", &["delete"])
    .writes(Data::LOCK)
    .plays(Role::Release);

pub(super) const ENTRY: GuardEntry = GuardEntry {
    mechanism: Mechanism {
        name: "lock-table",
        family: Family::LeaseLock,
        lesson: 4,
        summary: "a row inserted under a unique key, with owner and expiry; deleted to release",
        claims: Claims {
            survives: &["redis-restart", "redis-failover"],
            ..AS_FAMILY
        },
        weak_at: "write",
        needs: &["sql"],
        source: include_str!("lock_table.rs"),
    },
    steps: &[CONNECT, INSERT, TAKE_OVER, PAUSE, DELETE],
    reentrant: false,
    open: |world, store| {
        Box::pin(async move {
            opened(LockTable {
                sql: world.locks_in(store)?,
                timeouts: world.timeouts,
            })
        })
    },
};

struct LockTable {
    sql: Arc<Sql>,
    timeouts: Timeouts,
}

impl LockTable {
    /// Inserts the row or takes it over. True when it is `owner`'s now.
    async fn attempt(&self, item: &Name, owner: &str, probe: &Probe) -> Result<bool, Error> {
        let lease_us = self.timeouts.lease.as_micros() as u64;
        let mut sql = self.sql.connected(probe).await?;
        let insert = query(
            "insert ignore into locks (item, owner, expires_at) \
             values (?, ?, utc_timestamp(6) + interval ? microsecond)",
        )
        .on_postgres(
            "insert into locks (item, owner, expires_at) \
             values (?, ?, clock_timestamp() + ? * interval '1 microsecond') on conflict do nothing",
        )
        .bind(item.as_str())
        .bind(owner)
        .bind(lease_us);
        if found(probe.step(&INSERT, item, sql.execute(insert), taken).await)? {
            return Ok(true);
        }
        let update = query(
            "update locks set owner = ?, expires_at = utc_timestamp(6) + interval ? microsecond \
             where item = ? and expires_at < utc_timestamp(6)",
        )
        .on_postgres(
            "update locks set owner = ?, expires_at = clock_timestamp() + ? * interval '1 microsecond' \
             where item = ? and expires_at < clock_timestamp()",
        )
        .bind(owner)
        .bind(lease_us)
        .bind(item.as_str());
        found(probe.step(&TAKE_OVER, item, sql.execute(update), taken).await)
    }
}

/// Whether a statement found its row. MariaDB aborts all but one of the statements that wait for a row when it is
/// deleted: these have not found it.
fn found(rows: Result<u64, Error>) -> Result<bool, Error> {
    match rows {
        Ok(rows) => Ok(rows > 0),
        Err(Error::GivenUp { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

#[async_trait]
impl Guard for LockTable {
    async fn lock(&self, item: &Name, probe: &Probe) -> Result<Option<Box<dyn Held>>, Error> {
        let owner = Uuid::new_v4().to_string();
        let mut backoff = self.timeouts.backoff();
        while backoff.again(item, probe).await {
            if self.attempt(item, &owner, probe).await? {
                let (sql, item) = (self.sql.clone(), item.clone());
                return Ok(Some(Box::new(HeldLock { sql, item, owner })));
            }
        }
        Ok(None)
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        let delete = || [query("delete from locks where item = ?").bind(item.as_str())];
        self.sql.operate(delete).await
    }
}

struct HeldLock {
    sql: Arc<Sql>,
    item: Name,
    owner: String,
}

#[async_trait]
impl Held for HeldLock {
    async fn release(self: Box<Self>, probe: &Probe) -> Result<Released, Error> {
        let mut sql = self.sql.connected(probe).await?;
        let delete = query("delete from locks where item = ? and owner = ?")
            .bind(self.item.as_str())
            .bind(&self.owner);
        let deleted = probe.step(&DELETE, &self.item, sql.execute(delete), rows).await?;
        Ok(if deleted > 0 {
            Released::InTime
        } else {
            Released::TooLate
        })
    }
}
