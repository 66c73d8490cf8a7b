//! The rows of reservations: each is made with its units taken, and is then either paid or given back.

use std::time::Duration;

use uuid::Uuid;

use crate::domain::{Error, Name, Order, Purchase};
use crate::probe::{Data, Probe, Step, StepResult};
use crate::reconciler::BATCH;
use crate::stores::sql::{Connection, Row, query, rows};
use crate::stores::{Sql, Store, in_words};

pub(super) const HOLD: Step = Step::command("hold", &["insert"]).writes(Data::LOG);
pub(super) const LOOK: Step = Step::command("look", &["select"]).reads(Data::ALL);
pub(super) const PAY: Step = Step::command("pay", &["update"]).writes(Data::LOG);
pub(super) const OVERDUE: Step = Step::command("overdue", &["select"]).looking_for_work();
pub(super) const EXPIRE: Step = Step::command("expire", &["delete"]).writes(Data::LOG);
pub(super) const GIVE_BACK: Step = Step::command("give-back", &["update"]).writes(Data::STOCK);

pub(super) const TABLE: &str = include_str!("reservation.sql");

/// Makes the reservation of an order for one lease. False when the order has one.
pub(super) async fn hold(
    purchase: &Purchase,
    lease: Duration,
    probe: &Probe,
    sql: &mut Connection,
) -> Result<bool, Error> {
    // The server's clock decides alone.
    let insert = query(
        "insert into reservation (id, item, quantity, deadline) values (?, ?, ?, now(6) + interval ? microsecond)",
    )
    .bind(purchase.order.to_string())
    .bind(purchase.item.as_str())
    .bind(purchase.quantity)
    .bind(lease.as_micros() as u64);
    match probe.step(&HOLD, &purchase.order, sql.execute(insert), rows).await {
        Ok(_) => Ok(true),
        Err(Error::Duplicate) => Ok(false),
        Err(error) => Err(error),
    }
}

/// What is left of a sale, as one statement sees it.
pub(super) struct Left {
    /// The units that nobody holds.
    pub(super) free: i64,
    /// The units that are held, and may be given back.
    pub(super) held: i64,
    /// The order of the purchase that asks.
    pub(super) order: Option<Order>,
}

/// Looks at a sale. `None` when it is not open.
pub(super) async fn look(purchase: &Purchase, probe: &Probe, sql: &mut Connection) -> Result<Option<Left>, Error> {
    let select = query(
        "select s.num, (select cast(coalesce(sum(r.quantity), 0) as signed) from reservation r \
         where r.item = s.id and not r.paid), o.quantity, o.buyer \
         from store s left join orders o on o.id = ? where s.id = ?",
    )
    .bind(purchase.order.to_string())
    .bind(purchase.item.as_str());
    let row = probe.step(&LOOK, &purchase.item, sql.fetch(select), said).await?;
    let Some(row) = row else { return Ok(None) };
    let (quantity, buyer): (Option<i64>, Option<String>) = (row.try_get(2)?, row.try_get(3)?);
    Ok(Some(Left {
        free: row.try_get(0)?,
        held: row.try_get(1)?,
        order: quantity.zip(buyer).map(|(quantity, buyer)| Order {
            quantity: quantity as u32,
            buyer,
        }),
    }))
}

fn said(row: &Option<Row>) -> StepResult {
    let is_bought = row.as_ref().is_some_and(|row| row.get::<Option<i64>>(2).is_some());
    in_words(row.as_ref().map(|row| row.get(0)), is_bought)
}

/// Makes the reservation final. False when its units were given back, or it was paid before.
pub(super) async fn pay(purchase: &Purchase, probe: &Probe, sql: &mut Connection) -> Result<bool, Error> {
    let update = query("update reservation set paid = true, deadline = null where id = ? and not paid")
        .bind(purchase.order.to_string());
    Ok(probe.step(&PAY, &purchase.order, sql.execute(update), rows).await? > 0)
}

/// A reservation whose deadline is over.
pub(super) struct Overdue {
    order: Uuid,
    pub(super) item: Name,
    quantity: i64,
    pub(super) hung_ms: u64,
}

/// Returns a batch of overdue reservations.
pub(super) async fn overdue(probe: &Probe, sql: &mut Connection) -> Result<Vec<Overdue>, Error> {
    let select = query(
        "select id, item, quantity, timestampdiff(microsecond, begun, now(6)) div 1000 from reservation \
         where deadline < now(6) order by deadline limit ?",
    )
    .bind(BATCH as u64);
    let words = |rows: &Vec<Row>| format!("{} overdue", rows.len());
    let found = probe
        .step(&OVERDUE, &"reservation", sql.fetch_all(select), words)
        .await?;
    let overdue = |row: &Row| {
        Ok(Overdue {
            order: row.try_get::<String>(0)?.parse().map_err(corrupt)?,
            item: Name::parse(&row.try_get::<String>(1)?).map_err(corrupt)?,
            quantity: row.try_get(2)?,
            hung_ms: row.try_get::<i64>(3)?.max(0) as u64,
        })
    };
    found.iter().map(overdue).collect()
}

impl Overdue {
    /// Deletes the reservation and gives its units back, in a transaction that was begun. False when it was paid, or
    /// another instance gave them back.
    pub(super) async fn give_back(&self, probe: &Probe, sql: &mut Connection) -> Result<bool, Error> {
        // The sum keeps MariaDB from the index of deadlines.
        let delete =
            query("delete from reservation where id = ? and not paid and deadline + interval 0 second < now(6)")
                .bind(self.order.to_string());
        if probe.step(&EXPIRE, &self.order, sql.execute(delete), rows).await? == 0 {
            return Ok(false);
        }
        let update = query("update store set num = num + ? where id = ?")
            .bind(self.quantity)
            .bind(self.item.as_str());
        probe.step(&GIVE_BACK, &self.item, sql.execute(update), rows).await?;
        Ok(true)
    }
}

fn corrupt(error: impl ToString) -> Error {
    Error::Corrupt {
        store: Sql::NAME,
        what: error.to_string(),
    }
}
