//! One row per unit: a purchase takes rows that nobody else holds, and waits for no other purchase.
//!
//! ```text
//! A: pick; look; lock-counter; add-rows; lower-counter; commit    -- units move from the counter into rows
//! A: pick         -- select ... limit 1 for update skip locked: 1 row
//!                     B: pick; look    -- that row is skipped, and still there: B tries again
//! A: take; order; commit
//!                     B: pick; look    -- no row, and no unit in the counter: sold out
//! ```
//!
//! A purchase locks each row that it takes, so no unit is sold twice. Too few free rows do not mean sold out: a row that
//! is skipped comes back if its purchase is rolled back. A million units are not a million rows at once: one purchase
//! in a hundred moves the next units out of the counter, whose row it locks. The stock is the sum of both. MariaDB
//! knows `skip locked` from 10.6 on. Cost: fifteen round trips for the one that moves units, six for all others, and no
//! lock that another purchase waits for.

use std::sync::Arc;

use async_trait::async_trait;

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Order, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Data, Probe, Role, Step, StepResult};
use crate::stores::sql::{BEGIN, COMMIT, CONNECT, Connection, READ, RECORD, ROLLBACK, Row, query, rows};
use crate::stores::{Sql, in_words};
use crate::timeouts::{PAUSE, Timeouts};

/// The units that are moved into rows at once; as many as a purchase asks for, if that is more.
const MOVED_AT_ONCE: u32 = 100;

const PICK: Step = Step::command("pick", &["select"]).writes(Data::STOCK).plays(Role::Read);
const TAKE: Step = Step::command("take", &["delete"])
    .writes(Data::STOCK)
    .plays(Role::Write);
const READ_LEFT: Step = Step::command("read-left", &["select"]).reads(Data::ALL);
const LOOK: Step = Step::command("look", &["select"]).reads(Data::ALL);
const LOCK_COUNTER: Step = Step::command("lock-counter", &["select"]).writes(Data::STOCK);
const ADD_ROWS: Step = Step::command("add-rows", &["insert"]).writes(Data::STOCK);
const LOWER_COUNTER: Step = Step::command("lower-counter", &["update"]).writes(Data::STOCK);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "unit-rows",
        family: Family::RowLock,
        lesson: 9,
        summary: "a row per unit: select ... limit ? for update skip locked, delete, order, in one transaction",
        claims: AS_FAMILY,
        weak_at: "write",
        needs: &[],
        source: include_str!("unit_rows.rs"),
    },
    stores: &["sql", "pg"],
    steps: &[
        CONNECT,
        READ,
        BEGIN,
        PICK,
        TAKE,
        RECORD,
        READ_LEFT,
        COMMIT,
        ROLLBACK,
        LOOK,
        LOCK_COUNTER,
        ADD_ROWS,
        LOWER_COUNTER,
        PAUSE,
    ],
    open: |world, store| {
        Box::pin(async move {
            opened(UnitRows {
                sql: world.sql(store)?,
                timeouts: world.timeouts,
            })
        })
    },
};

struct UnitRows {
    sql: Arc<Sql>,
    timeouts: Timeouts,
}

/// What is left of a sale, as one statement sees it.
struct Left {
    /// The counter: units that are in no row yet.
    counter: i64,
    /// Units in rows, also in those that a purchase holds.
    in_rows: i64,
    order: Option<Order>,
}

impl UnitRows {
    /// Sells in a transaction that was begun. Returns the units left; `None` when there were too few free rows, or the
    /// ledger has the order.
    async fn attempt(&self, purchase: &Purchase, probe: &Probe, sql: &mut Connection) -> Result<Option<i64>, Error> {
        let select = query("select id from stock_units where item = ? limit ? for update skip locked")
            .bind(purchase.item.as_str())
            .bind(purchase.quantity);
        let words = |found: &Vec<Row>| format!("{} rows", found.len());
        let found = probe.step(&PICK, &purchase.item, sql.fetch_all(select), words).await?;
        if found.len() < purchase.quantity as usize {
            return Ok(None);
        }
        let ids: Vec<u64> = found.iter().map(|row| row.unsigned(0)).collect::<Result<_, _>>()?;
        // One statement for any number of rows, see stores/sql/many.rs.
        let delete = query(
            "delete stock_units from stock_units join json_table(?, '$[*]' columns (id bigint unsigned path '$')) picked \
             on stock_units.id = picked.id",
        )
        .on_postgres(
            "delete from stock_units using jsonb_array_elements_text(?::jsonb) picked where stock_units.id = picked::bigint",
        )
        .bind(serde_json::json!(ids).to_string());
        probe.step(&TAKE, &purchase.item, sql.execute(delete), rows).await?;
        if !self.sql.record(purchase, probe, sql).await? {
            return Ok(None);
        }
        let Some(left) = self.look(&READ_LEFT, purchase, probe, sql).await? else {
            return Ok(None);
        };
        self.sql.commit(purchase, probe, sql).await?;
        Ok(Some(left.counter + left.in_rows))
    }

    /// Reads what is committed. `None` when no sale of the item is open.
    async fn look(
        &self,
        step: &Step,
        purchase: &Purchase,
        probe: &Probe,
        sql: &mut Connection,
    ) -> Result<Option<Left>, Error> {
        let select = query(
            "select s.num, (select count(*) from stock_units u where u.item = s.id), o.quantity, o.buyer \
             from store s left join orders o on o.id = ? where s.id = ?",
        )
        .bind(purchase.order.to_string())
        .bind(purchase.item.as_str());
        let row = probe.step(step, &purchase.item, sql.fetch(select), said).await?;
        let Some(row) = row else { return Ok(None) };
        let (quantity, buyer): (Option<i64>, Option<String>) = (row.try_get(2)?, row.try_get(3)?);
        Ok(Some(Left {
            counter: row.try_get(0)?,
            in_rows: row.try_get(1)?,
            order: quantity.zip(buyer).map(|(quantity, buyer)| Order {
                quantity: quantity as u32,
                buyer,
            }),
        }))
    }

    /// Moves units from the counter into rows.
    async fn move_units(&self, purchase: &Purchase, probe: &Probe) -> Result<(), Error> {
        let mut sql = self.sql.begun(purchase, probe).await?;
        let select = query("select num from store where id = ? for update").bind(purchase.item.as_str());
        let left = self
            .sql
            .left(&LOCK_COUNTER, select, (purchase, probe), &mut sql)
            .await?;
        let moved = left.unwrap_or(0).min(MOVED_AT_ONCE.max(purchase.quantity).into());
        if moved > 0 {
            let insert =
                query("insert into stock_units (item) select ? from json_table(?, '$[*]' columns (n int path '$')) n")
                    .on_postgres("insert into stock_units (item) select ? from jsonb_array_elements_text(?::jsonb)")
                    .bind(purchase.item.as_str())
                    .bind(serde_json::json!(vec![1; moved as usize]).to_string());
            probe.step(&ADD_ROWS, &purchase.item, sql.execute(insert), rows).await?;
            let update = query("update store set num = num - ? where id = ?")
                .bind(moved)
                .bind(purchase.item.as_str());
            probe
                .step(&LOWER_COUNTER, &purchase.item, sql.execute(update), rows)
                .await?;
        }
        self.sql.commit(purchase, probe, &mut sql).await
    }
}

#[async_trait]
impl Strategy for UnitRows {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        probe.work().await;
        let mut backoff = self.timeouts.backoff();
        let mut has_moved = false;
        // Rows that it has just added need no pause.
        while std::mem::take(&mut has_moved) && !backoff.is_over() || backoff.again(&purchase.item, probe).await {
            let mut sql = self.sql.begun(purchase, probe).await?;
            match self.attempt(purchase, probe, &mut sql).await {
                Ok(Some(remaining)) => return Ok(Outcome::Sold { remaining }),
                Ok(None) | Err(Error::GivenUp { .. }) => self.sql.roll_back(purchase, probe, &mut sql).await?,
                Err(error) => return Err(error),
            }
            let left = self.look(&LOOK, purchase, probe, &mut sql).await?;
            drop(sql);
            match left {
                None => return Ok(Outcome::UnknownItem),
                Some(Left { order: Some(order), .. }) => return Ok(Outcome::Repeated(order)),
                Some(left) if left.counter + left.in_rows < purchase.quantity.into() => return Ok(Outcome::SoldOut),
                Some(left) if left.counter > 0 => match self.move_units(purchase, probe).await {
                    Ok(()) => has_moved = true,
                    Err(Error::GivenUp { .. }) => {}
                    Err(error) => return Err(error),
                },
                // Other purchases hold the rows, and may give them back.
                Some(_) => {}
            }
        }
        Ok(Outcome::Busy)
    }
}

fn said(row: &Option<Row>) -> StepResult {
    let left = row.as_ref().map(|row| row.get::<i64>(0) + row.get::<i64>(1));
    let is_bought = row.as_ref().is_some_and(|row| row.get::<Option<i64>>(2).is_some());
    in_words(left, is_bought)
}
