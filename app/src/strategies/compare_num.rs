//! Compare-and-set on the number itself: write only if the stock is still what was read.
//!
//! ```text
//! A: select num            -- 1
//!                     B: select num                         -- 1
//! A: update ... set num = 0 where id = ? and num = 1   -- 1 row
//!                     B: update ... set num = 0 where id = ? and num = 1   -- 0 rows: read again
//! ```
//!
//! Nobody waits for a lock, but under a crowd most attempts are lost: n buyers need about n rounds. A number that
//! comes back to its old value would pass unseen; a counter that only falls cannot. Cost: five round trips an attempt.

use std::sync::Arc;

use async_trait::async_trait;

use super::Strategy;
use crate::guards::Patience;
use crate::probe::{Probe, Step};
use crate::sale::{Error, Family, Mechanism, Outcome, Purchase, Threat};
use crate::stores::{Sql, Stock};

pub(super) struct CompareNum {
    sql: Arc<Sql>,
    patience: Patience,
}

impl CompareNum {
    pub(super) fn new(sql: &Arc<Sql>, patience: Patience) -> Self {
        Self {
            sql: sql.clone(),
            patience,
        }
    }

    /// One attempt; `None` when somebody else wrote in between.
    async fn attempt(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<Outcome>, Error> {
        let Some(shelf) = self.sql.read(purchase, probe).await? else {
            return Ok(Some(Outcome::UnknownItem));
        };
        if let Some(order) = shelf.order {
            return Ok(Some(Outcome::Repeated(order)));
        }
        let remaining = shelf.left - i64::from(purchase.quantity);
        if remaining < 0 {
            return Ok(Some(Outcome::SoldOut));
        }
        probe.work().await;
        let mut transaction = self.sql.pool().begin().await?;
        probe.at(Step::Write).await;
        let swapped = sqlx::query("update store set num = ? where id = ? and num = ?")
            .bind(remaining)
            .bind(purchase.item.as_str())
            .bind(shelf.left)
            .execute(&mut *transaction)
            .await?
            .rows_affected();
        probe.at(Step::Record).await;
        if swapped == 0 || !self.sql.record(purchase, &mut transaction).await? {
            transaction.rollback().await?;
            return Ok(None);
        }
        probe.at(Step::Commit).await;
        transaction.commit().await?;
        Ok(Some(Outcome::Sold { remaining }))
    }
}

#[async_trait]
impl Strategy for CompareNum {
    fn about(&self) -> Mechanism {
        Mechanism {
            name: "compare-num",
            family: Family::Optimistic,
            summary: "update ... where num = what was read, again until it is",
            claims: &[Threat::Crowd, Threat::SecondInstance, Threat::CrashedHolder],
        }
    }

    fn store(&self) -> &'static str {
        self.sql.name()
    }

    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        let mut tries = self.patience.tries();
        while tries.again().await {
            if let Some(outcome) = self.attempt(purchase, probe).await? {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Busy)
    }
}
