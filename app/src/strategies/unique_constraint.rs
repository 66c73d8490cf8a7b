//! One order per buyer and item by a unique key, in the transaction of a conditional update.
//!
//! ```text
//! A: enter-buyer a; order           -- the key of a is new; its row is locked until commit
//!                     B: enter-buyer b; order        -- the key of b is new: nobody waits
//! A: update ... set num = num - 1 where id = ? and num >= 1    -- 1 row
//!                     B: update ... the same, BLOCKS
//! A: commit
//!                     B: unblocked          -- num >= 1 is checked on the number that A left: rollback
//! ```
//!
//! The key refuses the second order of a buyer, also at the same moment: the second insert waits for the first. It
//! protects nothing else: two buyers have two keys, and only the condition of the update keeps the stock. A buyer with
//! two names has two orders, and one order may have many units. A second order is told busy. The rollback frees the key
//! of a buyer who gets nothing. The stock comes last. Cost: six round trips, its row locked for three.

use std::sync::Arc;

use async_trait::async_trait;

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Name, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Data, Probe, Step};
use crate::stores::sql::{
    BEGIN, COMMIT, CONNECT, Connection, Databases, READ, READ_LEFT, RECORD, ROLLBACK, TAKE, query, rows,
};
use crate::stores::{Sql, Stock};
use crate::timeouts::{PAUSE, Timeouts};

const TABLE: &str = include_str!("unique_constraint.sql");

const ENTER_BUYER: Step = Step::command("enter-buyer", &["insert"]).writes(Data::ORDERS);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "unique-constraint",
        family: Family::Atomic,
        lesson: 9,
        summary: "a unique key of buyer and item, then update ... where num >= ?, in one transaction",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("unique_constraint.rs"),
    },
    stores: &["sql"],
    steps: &[
        CONNECT,
        READ,
        BEGIN,
        ENTER_BUYER,
        RECORD,
        TAKE,
        READ_LEFT,
        COMMIT,
        ROLLBACK,
        PAUSE,
    ],
    open: |world, _| {
        Box::pin(async {
            let sql = world.store::<Sql>()?;
            sql.lay(TABLE).await?;
            opened(UniqueConstraint {
                sql,
                timeouts: world.timeouts,
            })
        })
    },
};

struct UniqueConstraint {
    sql: Arc<Sql>,
    timeouts: Timeouts,
}

impl UniqueConstraint {
    /// Sells in a transaction that was begun. Returns the units left; `None` when it does not sell.
    async fn attempt(&self, purchase: &Purchase, probe: &Probe, sql: &mut Connection) -> Result<Option<i64>, Error> {
        let insert = query("insert into one_per_buyer (item, buyer) values (?, ?)")
            .bind(purchase.item.as_str())
            .bind(purchase.buyer.as_str());
        probe
            .step(&ENTER_BUYER, &purchase.buyer, sql.execute(insert), rows)
            .await?;
        if !self.sql.record(purchase, probe, sql).await? {
            return Ok(None);
        }
        let left = Databases::take(purchase, probe, sql).await?;
        if left.is_some() {
            self.sql.commit(purchase, probe, sql).await?;
        }
        Ok(left)
    }

    /// Returns the outcome for a buyer who has an order: that of this purchase, or of another one.
    async fn bought_before(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        Ok(match self.sql.read(purchase, probe).await? {
            None => Outcome::UnknownItem,
            Some(found) => found.order.map_or(Outcome::Busy, Outcome::Repeated),
        })
    }
}

#[async_trait]
impl Strategy for UniqueConstraint {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        probe.work().await;
        let mut backoff = self.timeouts.backoff();
        // MariaDB gives up one of two transactions that wait for each other, which begins anew.
        while backoff.again(&purchase.item, probe).await {
            let mut sql = self.sql.begun(purchase, probe).await?;
            let sold = self.attempt(purchase, probe, &mut sql).await;
            if matches!(sold, Err(Error::Duplicate)) {
                self.sql.roll_back(purchase, probe, &mut sql).await?;
                drop(sql);
                return self.bought_before(purchase, probe).await;
            }
            if let Some(outcome) = self.sql.outcome(sold, (purchase, probe), sql).await? {
                return Ok(outcome);
            }
        }
        Ok(Outcome::Busy)
    }

    /// The limit ends with the sale.
    async fn forget(&self, item: &Name) -> Result<(), Error> {
        let delete = || [query("delete from one_per_buyer where item = ?").bind(item.as_str())];
        self.sql.operate(delete).await
    }
}
