//! Compare-and-set whose result is ignored: the write did not take place, and the sale is recorded all the same.
//!
//! ```text
//! A: select num                                             -- 1
//!                     B: select num                         -- 1
//! A: update ... set num = 0 where id = ? and num = 1; insert order, commit    -- 1 row: sold
//!                     B: update ... where id = ? and num = 1; insert order, commit    -- 0 rows, unseen: oversold
//! ```
//!
//! No error comes back: an update that finds no row is a success of zero rows. The counter stays right, and the orders
//! do not. The cure is in `compare-num`: no row, no order. Cost: five round trips.

use std::sync::Arc;

use async_trait::async_trait;

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Outcome, Purchase};
use crate::mechanism::{AS_NO_LOCK, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step};
use crate::stores::sql::{BEGIN, COMMIT, CONNECT, READ, RECORD, ROLLBACK, query, wrote};
use crate::stores::{Sql, Stock};

const COMPARE_SET: Step = Step::command("compare-set", &["update"])
    .writes(Data::STOCK)
    .plays(Role::Write);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "ignored-result",
        family: Family::Optimistic,
        lesson: 8,
        summary: "update ... where num = the number read, sold even if no row matched",
        claims: AS_NO_LOCK,
        weak_at: "write",
        needs: &[],
        source: include_str!("ignored_result.rs"),
    },
    stores: &["sql", "pg"],
    steps: &[CONNECT, READ, BEGIN, COMPARE_SET, RECORD, COMMIT, ROLLBACK],
    open: |world, store| Box::pin(async move { opened(IgnoredResult { sql: world.sql(store)? }) }),
};

struct IgnoredResult {
    sql: Arc<Sql>,
}

#[async_trait]
impl Strategy for IgnoredResult {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        let Some(found) = self.sql.read(purchase, probe).await? else {
            return Ok(Outcome::UnknownItem);
        };
        if let Some(order) = found.order {
            return Ok(Outcome::Repeated(order));
        }
        let remaining = found.left - i64::from(purchase.quantity);
        if remaining < 0 {
            return Ok(Outcome::SoldOut);
        }
        probe.work().await;
        let mut sql = self.sql.begun(purchase, probe).await?;
        let update = query("update store set num = ? where id = ? and num = ?")
            .bind(remaining)
            .bind(purchase.item.as_str())
            .bind(found.left);
        // The mistake: the number of rows goes to the trace only, and is not checked.
        probe
            .step(&COMPARE_SET, &purchase.item, sql.execute(update), |found| {
                wrote(*found, remaining)
            })
            .await?;
        let mut sold = None;
        if self.sql.record(purchase, probe, &mut sql).await? {
            self.sql.commit(purchase, probe, &mut sql).await?;
            sold = Some(remaining);
        }
        let outcome = self.sql.outcome(Ok(sold), (purchase, probe), sql).await?;
        Ok(outcome.unwrap_or(Outcome::Busy))
    }
}
