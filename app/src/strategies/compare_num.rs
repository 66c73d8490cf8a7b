//! Compare-and-set on the number itself: write only if the stock is still the number that was read.
//!
//! ```text
//! A: select num            -- 1
//!                     B: select num                         -- 1
//! A: update ... set num = 0 where id = ? and num = 1; insert order, commit   -- 1 row
//!                     B: update ... set num = 0 where id = ? and num = 1   -- 0 rows: read again
//! ```
//!
//! No purchase waits for a lock, but under a crowd most attempts fail: n buyers need about n rounds. A number that
//! returns to its old value would go unnoticed (ABA). A counter that only falls never does. Source: tutorial 000, which
//! leaves open what a buyer of 0 rows does: to read again is ours. Cost: five round trips per attempt.

use std::sync::Arc;

use async_trait::async_trait;

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step};
use crate::stores::sql::{BEGIN, COMMIT, CONNECT, READ, RECORD, ROLLBACK, query, wrote};
use crate::stores::{Sql, Stock};
use crate::timeouts::{PAUSE, Timeouts};

const COMPARE_SET: Step = Step::command("compare-set", &["update"])
    .writes(Data::STOCK)
    .plays(Role::Write);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "compare-num",
        family: Family::Optimistic,
        lesson: 8,
        summary: "update ... where num = the number read, retried until it matches",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("compare_num.rs"),
    },
    stores: &["sql", "pg"],
    steps: &[CONNECT, READ, BEGIN, COMPARE_SET, RECORD, COMMIT, ROLLBACK, PAUSE],
    open: |world, store| {
        Box::pin(async move {
            opened(CompareNum {
                sql: world.sql(store)?,
                timeouts: world.timeouts,
            })
        })
    },
};

struct CompareNum {
    sql: Arc<Sql>,
    timeouts: Timeouts,
}

impl CompareNum {
    /// Makes one attempt; `None` when another purchase wrote in between.
    async fn attempt(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<Outcome>, Error> {
        let Some(found) = self.sql.read(purchase, probe).await? else {
            return Ok(Some(Outcome::UnknownItem));
        };
        if let Some(order) = found.order {
            return Ok(Some(Outcome::Repeated(order)));
        }
        let remaining = found.left - i64::from(purchase.quantity);
        if remaining < 0 {
            return Ok(Some(Outcome::SoldOut));
        }
        probe.work().await;
        let mut sql = self.sql.begun(purchase, probe).await?;
        let update = query("update store set num = ? where id = ? and num = ?")
            .bind(remaining)
            .bind(purchase.item.as_str())
            .bind(found.left);
        let swapped = probe
            .step(&COMPARE_SET, &purchase.item, sql.execute(update), |found| {
                wrote(*found, remaining)
            })
            .await?;
        if swapped == 0 || !self.sql.record(purchase, probe, &mut sql).await? {
            self.sql.roll_back(purchase, probe, &mut sql).await?;
            return Ok(None);
        }
        self.sql.commit(purchase, probe, &mut sql).await?;
        Ok(Some(Outcome::Sold { remaining }))
    }
}

#[async_trait]
impl Strategy for CompareNum {
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
