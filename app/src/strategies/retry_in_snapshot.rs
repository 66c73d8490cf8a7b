//! Compare-and-set, retried inside its own transaction: each read returns the snapshot of the first read.
//!
//! ```text
//! A: begin; select num             -- 1
//!                     B: begin; select num                     -- 1
//! A: update ... and num = 1; insert order; commit   -- 1 row
//!                     B: update ... and num = 1                -- 0 rows, but the search locks the row
//!                     B: select num                            -- 1, as long as the transaction lasts
//!                     B: update ... and num = 1                -- 0 rows, for ever
//! ```
//!
//! It does not oversell. But a purchase that loses once can only lose until its time is over, and keeps the row from
//! all others meanwhile: a crowd is told busy, and one buyer is served where hundreds could be. A locking read would
//! see the new number; so does a new transaction, as in `compare-num`. Cost: five round trips.

use std::sync::Arc;

use async_trait::async_trait;

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step};
use crate::stores::Sql;
use crate::stores::sql::{BEGIN, COMMIT, CONNECT, Connection, READ, RECORD, ROLLBACK, query, wrote};
use crate::timeouts::{PAUSE, Timeouts};

const COMPARE_SET: Step = Step::command("compare-set", &["update"])
    .writes(Data::STOCK)
    .plays(Role::Write);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "retry-in-snapshot",
        family: Family::Optimistic,
        lesson: 8,
        summary: "update ... where num = the number read, retried in one REPEATABLE READ transaction",
        claims: Claims {
            gives_up: true,
            ..AS_FAMILY
        },
        weak_at: "write",
        needs: &[],
        source: include_str!("retry_in_snapshot.rs"),
    },
    stores: &["sql"],
    steps: &[CONNECT, BEGIN, READ, COMPARE_SET, RECORD, COMMIT, ROLLBACK, PAUSE],
    open: |world, store| {
        Box::pin(async move {
            opened(RetryInSnapshot {
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
            like: Some(Family::Optimistic),
            ..AS_FAMILY
        },
        ..ENTRY.mechanism
    },
    stores: &["pg"],
    ..ENTRY
};

struct RetryInSnapshot {
    sql: Arc<Sql>,
    timeouts: Timeouts,
}

impl RetryInSnapshot {
    /// Sells and returns the units left; `None` when it does not sell.
    async fn sell(&self, purchase: &Purchase, probe: &Probe, sql: &mut Connection) -> Result<Option<i64>, Error> {
        let item = purchase.item.as_str();
        let mut backoff = self.timeouts.backoff();
        while backoff.again(&purchase.item, probe).await {
            let select = query("select num from store where id = ?").bind(item);
            let found = self.sql.left(&READ, select, (purchase, probe), sql).await?.unwrap_or(0);
            let remaining = found - i64::from(purchase.quantity);
            if remaining < 0 {
                return Ok(None);
            }
            probe.work().await;
            let update = query("update store set num = ? where id = ? and num = ?")
                .bind(remaining)
                .bind(item)
                .bind(found);
            let words = |found: &u64| wrote(*found, remaining);
            let swapped = probe
                .step(&COMPARE_SET, &purchase.item, sql.execute(update), words)
                .await?;
            if swapped == 0 {
                continue;
            }
            if !self.sql.record(purchase, probe, sql).await? {
                return Ok(None);
            }
            self.sql.commit(purchase, probe, sql).await?;
            return Ok(Some(remaining));
        }
        Err(Error::given_up(
            self.sql.engine().store(),
            &"the row has changed since the transaction began to read",
        ))
    }
}

#[async_trait]
impl Strategy for RetryInSnapshot {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        let mut sql = self.sql.begun(purchase, probe).await?;
        let sold = self.sell(purchase, probe, &mut sql).await;
        let outcome = self.sql.outcome(sold, (purchase, probe), sql).await?;
        Ok(outcome.unwrap_or(Outcome::Busy))
    }
}
