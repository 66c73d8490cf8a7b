//! The conditional update: the database checks and takes in one statement.
//!
//! ```text
//! A: update ... set num = num - 1 where id = ? and num >= 1    -- 1 row; the row is locked until commit
//!                     B: the same, BLOCKS
//! A: insert order, commit
//!                     B: unblocked; num >= 1 is judged on what A left
//! ```
//!
//! Nothing is read that could grow old, so nothing can be lost. Cost: four round trips, the row locked for three.

use std::sync::Arc;

use async_trait::async_trait;

use super::Strategy;
use crate::probe::{Probe, Step};
use crate::sale::{Error, Family, Mechanism, Outcome, Purchase, Threat};
use crate::stores::{Sql, Stock};

pub(super) struct Conditional {
    sql: Arc<Sql>,
}

impl Conditional {
    pub(super) fn new(sql: &Arc<Sql>) -> Self {
        Self { sql: sql.clone() }
    }

    /// Why nothing was taken: the same question in four forms, asked after the fact and off the path of a sale.
    async fn refusal(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        Ok(match self.sql.read(purchase, probe).await? {
            None => Outcome::UnknownItem,
            Some(shelf) => shelf.order.map_or(Outcome::SoldOut, Outcome::Repeated),
        })
    }
}

#[async_trait]
impl Strategy for Conditional {
    fn about(&self) -> Mechanism {
        Mechanism {
            name: "conditional",
            family: Family::Atomic,
            summary: "update ... set num = num - ? where num >= ?, order in the same transaction",
            claims: &[Threat::Crowd, Threat::SecondInstance, Threat::CrashedHolder],
        }
    }

    fn store(&self) -> &'static str {
        self.sql.name()
    }

    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        probe.work().await;
        let mut transaction = self.sql.pool().begin().await?;
        probe.at(Step::Write).await;
        let taken = sqlx::query("update store set num = num - ? where id = ? and num >= ?")
            .bind(purchase.quantity)
            .bind(purchase.item.as_str())
            .bind(purchase.quantity)
            .execute(&mut *transaction)
            .await?
            .rows_affected();
        probe.at(Step::Record).await;
        if taken == 0 || !self.sql.record(purchase, &mut transaction).await? {
            transaction.rollback().await?;
            return self.refusal(purchase, probe).await;
        }
        let remaining = sqlx::query_scalar("select num from store where id = ?")
            .bind(purchase.item.as_str())
            .fetch_one(&mut *transaction)
            .await?;
        probe.at(Step::Commit).await;
        transaction.commit().await?;
        Ok(Outcome::Sold { remaining })
    }
}
