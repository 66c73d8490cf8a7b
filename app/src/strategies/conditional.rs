//! The conditional update: the database checks and takes in one statement.
//!
//! ```text
//! A: update ... set num = num - 1 where id = ? and num >= 1    -- 1 row; the row is locked until commit
//!                     B: update ... the same, BLOCKS
//! A: insert order, commit
//!                     B: unblocked          -- num >= 1 is checked on the number that A left
//! ```
//!
//! No number is read that could become stale, so no update is lost. Cost: five round trips, the row locked for four.

use std::sync::Arc;

use async_trait::async_trait;

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step, StepResult, StepValue};
use crate::stores::Sql;
use crate::stores::sql::{BEGIN, COMMIT, CONNECT, READ, RECORD, ROLLBACK, Row, query, rows};

const TAKE: Step = Step::command("take", &["update"])
    .writes(Data::STOCK)
    .plays(Role::Write);
const READ_LEFT: Step = Step::command("read-left", &["select"]).reads(Data::ALL);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "conditional",
        family: Family::Atomic,
        lesson: 9,
        summary: "update ... set num = num - ? where num >= ?, order in the same transaction",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("conditional.rs"),
    },
    stores: &["sql", "pg"],
    steps: &[CONNECT, BEGIN, TAKE, RECORD, READ_LEFT, COMMIT, ROLLBACK, READ],
    open: |world, store| Box::pin(async move { opened(Conditional { sql: world.sql(store)? }) }),
};

struct Conditional {
    sql: Arc<Sql>,
}

#[async_trait]
impl Strategy for Conditional {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        probe.work().await;
        let mut sql = self.sql.begun(purchase, probe).await?;
        let update = query("update store set num = num - ? where id = ? and num >= ?")
            .bind(purchase.quantity)
            .bind(purchase.item.as_str())
            .bind(purchase.quantity);
        let taken = probe.step(&TAKE, &purchase.item, sql.execute(update), rows).await?;
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
    row.as_ref()
        .map_or("0 rows".into(), |row| StepValue::Left(row.get(0)).into())
}
