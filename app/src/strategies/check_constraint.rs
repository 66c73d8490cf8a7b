//! A decrement without a condition, and a check constraint behind it: the table refuses a row below zero.
//!
//! ```text
//! A: update ... set num = num - 1 where id = ?    -- 1 row, num is 0; the row is locked until commit
//!                     B: update ... the same, BLOCKS
//! A: insert order, commit
//!                     B: unblocked          -- num would be -1: error 4025, which means sold out
//! ```
//!
//! The mistake would be to pass the error on: the buyer gets a 500 and not a 409. The check sees only the row: an
//! update that writes 0 twice, as in `lost-update`, oversells and never comes below zero. An unsigned column refuses by
//! error 1690, or 1264 under NO_UNSIGNED_SUBTRACTION, which without a strict mode writes 0 and sells. The check here is
//! `num >= lowest`, and `lowest` is null for all other strategies. Cost: five round trips, the row locked for four.

use std::sync::Arc;

use async_trait::async_trait;

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step, StepResult};
use crate::stores::sql::{
    BEGIN, COMMIT, CONNECT, READ, READ_LEFT, RECORD, ROLLBACK, Row, is_check_violation, query, rows,
};
use crate::stores::{Sql, in_words};

const TAKE: Step = Step::command("take", &["update"])
    .writes(Data::STOCK)
    .plays(Role::Write);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "check-constraint",
        family: Family::Atomic,
        lesson: 9,
        summary: "update ... set num = num - ? without a condition; a check constraint refuses a row below zero",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("check_constraint.rs"),
    },
    stores: &["sql", "pg"],
    steps: &[CONNECT, READ, BEGIN, TAKE, RECORD, READ_LEFT, COMMIT, ROLLBACK],
    open: |world, store| Box::pin(async move { opened(CheckConstraint { sql: world.sql(store)? }) }),
};

struct CheckConstraint {
    sql: Arc<Sql>,
}

#[async_trait]
impl Strategy for CheckConstraint {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        probe.work().await;
        let mut sql = self.sql.begun(purchase, probe).await?;
        // From the first purchase on, the sale has the check.
        let update = query("update store set num = num - ?, lowest = 0 where id = ?")
            // Signed: `num - ?` with an unsigned number would be unsigned, and error 1690 below zero.
            .bind(i64::from(purchase.quantity))
            .bind(purchase.item.as_str());
        let taken = match probe.step(&TAKE, &purchase.item, sql.execute(update), rows).await {
            Err(error) if is_check_violation(&error) => 0,
            taken => taken?,
        };
        if taken == 0 || !self.sql.record(purchase, probe, &mut sql).await? {
            self.sql.roll_back(purchase, probe, &mut sql).await?;
            drop(sql);
            return self.sql.refusal(purchase, probe).await;
        }
        let select = query("select num from store where id = ?").bind(purchase.item.as_str());
        let row = probe.step(&READ_LEFT, &purchase.item, sql.fetch(select), left).await?;
        let remaining = row.ok_or(sqlx::Error::RowNotFound)?.try_get(0)?;
        self.sql.commit(purchase, probe, &mut sql).await?;
        Ok(Outcome::Sold { remaining })
    }
}

fn left(row: &Option<Row>) -> StepResult {
    in_words(row.as_ref().map(|row| row.get(0)), false)
}
