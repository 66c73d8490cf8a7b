//! Yours: read, compute, write. It oversells until you mend it.
//!
//! ```text
//! A: begin; select num           -- 1
//!                     B: begin; select num                     -- 1
//! A: update ... set num = 0 where id = ?; insert order; commit
//!                     B: update ... set num = 0 where id = ?; insert order; commit   -- oversold
//! ```
//!
//! Cost: five round trips.

use std::sync::Arc;

use async_trait::async_trait;

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Outcome, Purchase};
use crate::mechanism::{AS_NO_LOCK, Family, Mechanism};
use crate::probe::{Probe, StepValue};
use crate::stores::sql::{BEGIN, COMMIT, CONNECT, READ, RECORD, ROLLBACK, WRITE, query};
use crate::stores::{Sql, Stock};

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "exercise",
        family: Family::NoLock,
        lesson: 1,
        summary: "your own",
        claims: AS_NO_LOCK,
        weak_at: "write",
        needs: &[],
        source: include_str!("exercise.rs"),
    },
    stores: &["sql"],
    steps: &[CONNECT, BEGIN, READ, WRITE, RECORD, COMMIT, ROLLBACK],
    open: |world, store| Box::pin(async move { opened(Exercise { sql: world.sql(store)? }) }),
};

struct Exercise {
    sql: Arc<Sql>,
}

#[async_trait]
impl Strategy for Exercise {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        // A number is read ...
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
        // ... and written later. What if another purchase has written meanwhile?
        let update = query("update store set num = ? where id = ?")
            .bind(remaining)
            .bind(purchase.item.as_str());
        let words = |_rows: &u64| StepValue::Wrote(remaining);
        let rows = probe.step(&WRITE, &purchase.item, sql.execute(update), words).await?;
        if rows == 0 || !self.sql.record(purchase, probe, &mut sql).await? {
            self.sql.roll_back(purchase, probe, &mut sql).await?;
            return Ok(Outcome::Busy);
        }
        self.sql.commit(purchase, probe, &mut sql).await?;
        Ok(Outcome::Sold { remaining })
    }
}
