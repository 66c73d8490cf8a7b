//! The log of sagas in MariaDB. A compensated saga cannot enter its order, and one with an order is not compensated.

use std::time::Duration;

use uuid::Uuid;

use crate::domain::{Error, Name, Purchase};
use crate::probe::{Data, Probe, Step};
use crate::reconciler::BATCH;
use crate::stores::sql::{self, Connection, Row, query, rows};
use crate::stores::{Sql, Store};

pub(super) const BEGIN_SAGA: Step = Step::command("begin-saga", &["insert"]);
pub(super) const END_SAGA: Step = Step::command("end-saga", &["update"]);
pub(super) const CLAIM: Step = Step::command("claim", &["update"]);
pub(super) const DROP_SAGA: Step = Step::command("drop-saga", &["delete"]);
/// The order comes out of the log.
pub(super) const RECORD: Step = sql::RECORD.writes(Data::LOG);
pub(super) const OVERDUE: Step = Step::command("overdue", &["select"]).looking_for_work();

pub(super) const TABLE: &str = include_str!("log.sql");

/// One attempt to buy. Each delivery of a purchase is another one.
pub(super) struct Saga {
    pub(super) item: Name,
    pub(super) order: Uuid,
    pub(super) id: Uuid,
}

impl Saga {
    pub(super) fn of(purchase: &Purchase) -> Self {
        Self {
            item: purchase.item.clone(),
            order: purchase.order,
            id: Uuid::new_v4(),
        }
    }

    /// Enters the saga in the log. False when its order has a saga.
    pub(super) async fn begin(
        &self,
        purchase: &Purchase,
        lease: Duration,
        probe: &Probe,
        sql: &mut Connection,
    ) -> Result<bool, Error> {
        let insert = query(
            "insert into saga (id, saga, item, quantity, buyer, idempotency_key, deadline) \
             values (?, ?, ?, ?, ?, ?, now(6) + interval ? microsecond)",
        )
        .bind(self.order.to_string())
        .bind(self.id.to_string())
        .bind(self.item.as_str())
        .bind(purchase.quantity)
        .bind(purchase.buyer.as_str())
        .bind(purchase.key.as_ref().map(Name::as_str))
        .bind(lease.as_micros() as u64);
        match probe.step(&BEGIN_SAGA, &self.order, sql.execute(insert), rows).await {
            Ok(_) => Ok(true),
            Err(Error::Duplicate) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Enters the order of the saga. False when the saga was compensated.
    pub(super) async fn record(&self, instance: &Name, probe: &Probe, sql: &mut Connection) -> Result<bool, Error> {
        let insert = query(
            "insert into orders (id, item, quantity, buyer, idempotency_key, instance) \
             select id, item, quantity, buyer, idempotency_key, ? from saga \
             where id = ? and saga = ? and not compensating",
        )
        .bind(instance.as_str())
        .bind(self.order.to_string())
        .bind(self.id.to_string());
        match probe.step(&RECORD, &self.order, sql.execute(insert), rows).await {
            Ok(entered) => Ok(entered > 0),
            Err(Error::Duplicate) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Ends the saga. False when it had ended before.
    pub(super) async fn end(&self, probe: &Probe, sql: &mut Connection) -> Result<bool, Error> {
        let update = query("update saga set deadline = null where id = ? and saga = ? and deadline is not null")
            .bind(self.order.to_string())
            .bind(self.id.to_string());
        let ended = probe.step(&END_SAGA, &self.order, sql.execute(update), rows).await?;
        Ok(ended > 0)
    }

    /// Decides to compensate the saga. False when its order is in the ledger.
    pub(super) async fn claim(&self, probe: &Probe, sql: &mut Connection) -> Result<bool, Error> {
        let update = query(
            "update saga set compensating = true \
             where id = ? and saga = ? and not exists (select 1 from orders where orders.id = ?)",
        )
        .bind(self.order.to_string())
        .bind(self.id.to_string())
        .bind(self.order.to_string());
        let claimed = probe.step(&CLAIM, &self.order, sql.execute(update), rows).await?;
        Ok(claimed > 0)
    }

    /// Deletes the saga from the log.
    pub(super) async fn drop(&self, probe: &Probe, sql: &mut Connection) -> Result<(), Error> {
        let delete = query("delete from saga where id = ? and saga = ?")
            .bind(self.order.to_string())
            .bind(self.id.to_string());
        let dropped = probe.step(&DROP_SAGA, &self.order, sql.execute(delete), rows);
        dropped.await.map(drop)
    }
}

/// Returns a batch of overdue sagas, each with its age in ms.
pub(super) async fn overdue(probe: &Probe, sql: &mut Connection) -> Result<Vec<(Saga, u64)>, Error> {
    let select = query(
        "select item, id, saga, timestampdiff(microsecond, begun, now(6)) div 1000 from saga \
         where deadline < now(6) order by deadline limit ?",
    )
    .bind(BATCH as u64);
    let words = |rows: &Vec<Row>| format!("{} overdue", rows.len());
    let found = probe.step(&OVERDUE, &"saga", sql.fetch_all(select), words).await?;
    let saga = |row: &Row| {
        let saga = Saga {
            item: Name::parse(&row.try_get::<String>(0)?).map_err(corrupt)?,
            order: row.try_get::<String>(1)?.parse().map_err(corrupt)?,
            id: row.try_get::<String>(2)?.parse().map_err(corrupt)?,
        };
        Ok((saga, row.try_get::<i64>(3)?.max(0) as u64))
    };
    found.iter().map(saga).collect()
}

fn corrupt(error: impl ToString) -> Error {
    Error::Corrupt {
        store: Sql::NAME,
        what: error.to_string(),
    }
}
