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
//! in a deadlock, so a client of SERIALIZABLE must be ready to retry. Cost: six round trips per attempt.

use std::sync::Arc;

use async_trait::async_trait;
use sqlx::query;

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Data, Probe, Step};
use crate::stores::Sql;
use crate::stores::sql::{BEGIN, COMMIT, CONNECT, READ, RECORD, ROLLBACK, WRITE};
use crate::timeouts::{PAUSE, Timeouts};

const ISOLATE: Step = Step::command("isolate", &["set"]).reads(Data::NONE);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "serializable",
        family: Family::RowLock,
        lesson: 8,
        summary: "isolation level SERIALIZABLE, retried after each deadlock",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("serializable.rs"),
    },
    store: "sql",
    steps: &[CONNECT, ISOLATE, BEGIN, READ, WRITE, RECORD, COMMIT, ROLLBACK, PAUSE],
    open: |world| {
        Box::pin(async {
            opened(Serializable {
                sql: world.store()?,
                timeouts: world.timeouts,
            })
        })
    },
};

struct Serializable {
    sql: Arc<Sql>,
    timeouts: Timeouts,
}

impl Serializable {
    /// Makes one attempt; `None` when MariaDB aborted it.
    async fn attempt(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<Outcome>, Error> {
        let mut sql = self.sql.connected(probe).await?;
        probe
            .step(&ISOLATE, &purchase.item, sql.isolate(), |()| "serializable")
            .await?;
        probe.step(&BEGIN, &purchase.item, sql.begin(), |()| "begun").await?;
        let select = query("select num from store where id = ?").bind(purchase.item.as_str());
        let sold = self.sql.read_then_set(&READ, select, (purchase, probe), &mut sql).await;
        self.sql.outcome(sold, (purchase, probe), sql).await
    }
}

#[async_trait]
impl Strategy for Serializable {
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
