//! Compare-and-set on a version that every write raises: write only if no other write came since the read.
//!
//! ```text
//! A: select num, version      -- 1, version 7
//!                     B: select num, version                -- 1, version 7
//! A: update ... set num = 0, version = version + 1 where id = ? and version = 7; insert order, commit   -- 1 row
//!                     B: update ... the same                -- 0 rows: read again
//! ```
//!
//! A version never returns to an old value, unlike a number that is sold and then restocked. It protects only against
//! writers that raise it: a statement that forgets to goes unnoticed. Source: tutorial 000, in prose; the new attempt
//! after 0 rows is ours. Cost: five round trips per attempt.

use std::sync::Arc;

use async_trait::async_trait;

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step, StepValue};
use crate::stores::Sql;
use crate::stores::sql::{BEGIN, COMMIT, CONNECT, READ, RECORD, ROLLBACK, Row, query, wrote};
use crate::timeouts::{PAUSE, Timeouts};

const READ_VERSION: Step = Step::command("read-version", &["select"])
    .reads(Data::ALL)
    .plays(Role::Read);
const COMPARE_VERSION: Step = Step::command("compare-version", &["update"])
    .writes(Data::STOCK)
    .plays(Role::Write);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "compare-version",
        family: Family::Optimistic,
        lesson: 8,
        summary: "update ... where version = the version read, retried until it matches",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("compare_version.rs"),
    },
    stores: &["sql", "pg"],
    steps: &[
        CONNECT,
        READ_VERSION,
        BEGIN,
        COMPARE_VERSION,
        RECORD,
        COMMIT,
        ROLLBACK,
        READ,
        PAUSE,
    ],
    open: |world, store| {
        Box::pin(async move {
            opened(CompareVersion {
                sql: world.sql(store)?,
                timeouts: world.timeouts,
            })
        })
    },
};

struct CompareVersion {
    sql: Arc<Sql>,
    timeouts: Timeouts,
}

impl CompareVersion {
    /// Returns the units left and the version of the row; `None` without a sale.
    async fn read(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<(i64, u64)>, Error> {
        let mut sql = self.sql.connected(probe).await?;
        let select = query("select num, version from store where id = ?").bind(purchase.item.as_str());
        let words = |row: &Option<Row>| match row {
            Some(row) => {
                StepValue::Left(row.get(0)).with(format_args!("version {}", row.unsigned(1).unwrap_or_default()))
            }
            None => "no sale".into(),
        };
        let row = probe
            .step(&READ_VERSION, &purchase.item, sql.fetch(select), words)
            .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some((row.try_get(0)?, row.unsigned(1)?)))
    }

    /// Makes one attempt; `None` when another purchase wrote in between.
    async fn attempt(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<Outcome>, Error> {
        let (left, version) = self.read(purchase, probe).await?.unwrap_or_default();
        let remaining = left - i64::from(purchase.quantity);
        if remaining < 0 {
            return self.sql.refusal(purchase, probe).await.map(Some);
        }
        probe.work().await;
        let mut sql = self.sql.begun(purchase, probe).await?;
        let update = query("update store set num = ?, version = version + 1 where id = ? and version = ?")
            .bind(remaining)
            .bind(purchase.item.as_str())
            .bind(version);
        let swapped = probe
            .step(&COMPARE_VERSION, &purchase.item, sql.execute(update), |found| {
                wrote(*found, remaining)
            })
            .await?;
        if swapped == 0 {
            self.sql.roll_back(purchase, probe, &mut sql).await?;
            return Ok(None);
        }
        let mut sold = None;
        if self.sql.record(purchase, probe, &mut sql).await? {
            self.sql.commit(purchase, probe, &mut sql).await?;
            sold = Some(remaining);
        }
        self.sql.outcome(Ok(sold), (purchase, probe), sql).await
    }
}

#[async_trait]
impl Strategy for CompareVersion {
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
