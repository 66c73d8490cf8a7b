//! Two stores, one write to each: the stock is taken in Redis, then the order is entered in MariaDB.
//!
//! ```text
//! A: take        -- Redis: left 0
//! A: (killed)    -- MariaDB gets no order: the unit is lost
//!                     B: take -> sold out
//! ```
//!
//! Exact as long as no purchase dies between the two writes. A killed instance kills every purchase that is there. No
//! transaction spans the two writes, and no process completes them later. A second copy of a purchase takes nothing: it
//! waits for the order of the first. Cost: three round trips.

use std::sync::Arc;

use async_trait::async_trait;
use redis::Script;

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Name, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::{Probe, Role, Step, StepValue};
use crate::stores::sql::{CONNECT, Connection, FIND, RECORD};
use crate::stores::{Redis, Sql, Store};
use crate::timeouts::{PAUSE, Timeouts};

const TAKE: Step = Step::command("take", &["EVALSHA"]).plays(Role::Write);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "dual-write",
        family: Family::TwoStores,
        lesson: 10,
        summary: "take in Redis, then enter the order in MariaDB",
        claims: Claims {
            broken_by: &[
                "crashed-holder",
                "crashed-between",
                "sql-restart",
                "sql-gone",
                "store-silent",
                "lost-reply",
            ],
            // Not where Redis and the database refuse the same purchases.
            sometimes_broken_by: &["disk-full"],
            ..AS_FAMILY
        },
        weak_at: "record",
        needs: &[],
        source: include_str!("dual_write.rs"),
    },
    stores: &["redis+sql", "cluster+sql"],
    steps: &[CONNECT, FIND, TAKE, RECORD, PAUSE],
    open: |world, store| {
        Box::pin(async move {
            opened(DualWrite {
                redis: world.redis(store)?,
                sql: world.store()?,
                take: Script::new(include_str!("take.lua")),
                timeouts: world.timeouts,
            })
        })
    },
};

struct DualWrite {
    redis: Arc<Redis>,
    sql: Arc<Sql>,
    take: Script,
    timeouts: Timeouts,
}

/// The key of the set of orders that have taken units.
fn taken_key(item: &Name) -> String {
    format!("taken:{{{item}}}")
}

impl DualWrite {
    /// Waits for the order of another copy of this purchase.
    async fn other_copy(&self, purchase: &Purchase, probe: &Probe, sql: &mut Connection) -> Result<Outcome, Error> {
        let mut backoff = self.timeouts.backoff();
        while backoff.again(&purchase.item, probe).await {
            if let Some(order) = self.sql.find(purchase, probe, sql).await? {
                return Ok(Outcome::Repeated(order));
            }
        }
        Ok(Outcome::Busy)
    }
}

#[async_trait]
impl Strategy for DualWrite {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        probe.work().await;
        // Connects before the take: a purchase that gets no connection must not have taken a unit.
        let mut sql = self.sql.connected(probe).await?;
        if let Some(order) = self.sql.find(purchase, probe, &mut sql).await? {
            return Ok(Outcome::Repeated(order));
        }
        let stock = Redis::stock_key(&purchase.item);
        let mut take = self.take.key(&stock);
        take.key(taken_key(&purchase.item))
            .arg(purchase.quantity)
            .arg(purchase.order.to_string());
        let words = |(word, left): &(String, i64)| StepValue::Left(*left).after(word);
        let (word, remaining): (String, i64) = probe.step(&TAKE, &stock, self.redis.run(&take), words).await?;
        match word.as_str() {
            "taken" => {}
            "taken before" => return self.other_copy(purchase, probe, &mut sql).await,
            "unknown" => return Ok(Outcome::UnknownItem),
            _ => return Ok(Outcome::SoldOut),
        }
        let recorded = self.sql.record(purchase, probe, &mut sql).await;
        // The unit is taken, even if MariaDB did nothing: after an error the outcome is unknown.
        match recorded.map_err(|error| Error::failed(Sql::NAME, error))? {
            true => Ok(Outcome::Sold { remaining }),
            false => self.other_copy(purchase, probe, &mut sql).await,
        }
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.redis.forget(&[taken_key(item)]).await
    }
}
