//! The conditional update that returns what it left: one round trip less than `conditional`.
//!
//! ```text
//! A: begin; take num where num >= 1 returning num   -- 0; the row is locked until commit
//!                     B: begin; take num, BLOCKS
//! A: record; commit
//!                     B: unblocked          -- num >= 1 is checked on the number that A left: 0 rows
//! ```
//!
//! No number is read that could become stale, so no update is lost. PostgreSQL has `update ... returning`; MariaDB has it
//! for inserts and deletes only. Cost: four round trips, the row locked for three.

use std::sync::Arc;

use async_trait::async_trait;

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step, StepResult, StepValue};
use crate::stores::Sql;
use crate::stores::sql::{BEGIN, COMMIT, CONNECT, Connection, READ, RECORD, ROLLBACK, Row, query};

const TAKE: Step = Step::command("take", &["update"])
    .reads(Data::ALL)
    .writes(Data::STOCK)
    .plays(Role::Write);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "returning",
        family: Family::Atomic,
        lesson: 9,
        summary: "update ... where num >= ? returning num, order in the same transaction",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("returning.rs"),
    },
    stores: &["pg"],
    steps: &[CONNECT, BEGIN, TAKE, RECORD, COMMIT, ROLLBACK, READ],
    open: |world, store| Box::pin(async move { opened(Returning { sql: world.sql(store)? }) }),
};

struct Returning {
    sql: Arc<Sql>,
}

#[async_trait]
impl Strategy for Returning {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        probe.work().await;
        let mut sql = self.sql.begun(purchase, probe).await?;
        let update = query("update store set num = num - ? where id = ? and num >= ? returning num")
            .bind(purchase.quantity)
            .bind(purchase.item.as_str())
            .bind(purchase.quantity);
        let taken = probe.step(&TAKE, &purchase.item, sql.fetch(update), left).await?;
        let remaining = taken.map(|row| row.try_get(0)).transpose()?;
        let Some(remaining) = remaining else {
            return self.refused(purchase, probe, sql).await;
        };
        if !self.sql.record(purchase, probe, &mut sql).await? {
            return self.refused(purchase, probe, sql).await;
        }
        self.sql.commit(purchase, probe, &mut sql).await?;
        Ok(Outcome::Sold { remaining })
    }
}

impl Returning {
    async fn refused(&self, purchase: &Purchase, probe: &Probe, mut sql: Connection) -> Result<Outcome, Error> {
        self.sql.roll_back(purchase, probe, &mut sql).await?;
        drop(sql);
        self.sql.refusal(purchase, probe).await
    }
}

fn left(row: &Option<Row>) -> StepResult {
    row.as_ref()
        .map_or("0 rows".into(), |row| StepValue::Wrote(row.get(0)).into())
}
