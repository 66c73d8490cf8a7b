//! Global transactions, in the database of the stock. The row of a transaction is the global lock of its item. It is
//! written on a connection of its own, outside the local transactions of the branches.

use std::time::Duration;

use uuid::Uuid;

use super::CHECK_LOCK;
use crate::domain::{Error, Name, Purchase};
use crate::probe::{Probe, Role, Step, StepValue};
use crate::reconciler::BATCH;
use crate::stores::sql::{Connection, Row, query, rows};
use crate::stores::{Sql, Store};

pub(super) const GLOBAL_LOCK: Step = Step::command("global-lock", &["insert"]).plays(Role::Lock);
pub(super) const DECIDE: Step = Step::command("decide", &["update"]);
pub(super) const END: Step = Step::command("end", &["delete"]).plays(Role::Release);
pub(super) const MARK_DIRTY: Step = Step::command("mark-dirty", &["update"]);
pub(super) const OVERDUE: Step = Step::command("overdue", &["select"]).looking_for_work();

pub(super) const TABLE: &str = include_str!("transactions.sql");

/// One attempt to buy. Each delivery of a purchase is another one.
pub(super) struct Transaction {
    pub(super) item: Name,
    pub(super) id: Uuid,
}

/// The decision how a transaction ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decided {
    Committed,
    RollingBack,
}

pub(super) struct Overdue {
    pub(super) transaction: Transaction,
    /// `None` while it is not decided.
    pub(super) decided: Option<Decided>,
    /// How long it has lasted, in milliseconds.
    pub(super) hung_ms: u64,
}

impl Decided {
    fn word(self) -> &'static str {
        match self {
            Self::Committed => "committed",
            Self::RollingBack => "rolling back",
        }
    }
}

impl Transaction {
    pub(super) fn of(purchase: &Purchase) -> Self {
        Self {
            item: purchase.item.clone(),
            id: Uuid::new_v4(),
        }
    }

    /// Takes the global lock for a lease. False while another transaction has it.
    pub(super) async fn lock(
        &self,
        mechanism: &str,
        lease: Duration,
        probe: &Probe,
        sql: &mut Connection,
    ) -> Result<bool, Error> {
        let insert = query(
            "insert into at_transactions (item, id, mechanism, deadline) \
             values (?, ?, ?, now(6) + interval ? microsecond)",
        )
        .bind(self.item.as_str())
        .bind(self.id.to_string())
        .bind(mechanism)
        .bind(lease.as_micros() as u64);
        match probe
            .step(&GLOBAL_LOCK, &self.item, sql.execute(insert), |_| {
                StepValue::Taken(true)
            })
            .await
        {
            Ok(_) => Ok(true),
            // Two waiters for a row that is deleted can deadlock.
            Err(Error::Duplicate | Error::GivenUp { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns whether no transaction has the global lock of the item. It takes nothing.
    pub(super) async fn is_free(item: &Name, probe: &Probe, sql: &mut Connection) -> Result<bool, Error> {
        let select = query("select 1 from at_transactions where item = ?").bind(item.as_str());
        let words = |row: &Option<Row>| if row.is_some() { "held by another" } else { "free" };
        let holder = probe.step(&CHECK_LOCK, item, sql.fetch(select), words).await?;
        Ok(holder.is_none())
    }

    /// Stores the decision. False when there was one before.
    pub(super) async fn decide(&self, how: Decided, probe: &Probe, sql: &mut Connection) -> Result<bool, Error> {
        let update = query("update at_transactions set state = ? where item = ? and id = ? and state = 'begun'")
            .bind(how.word())
            .bind(self.item.as_str())
            .bind(self.id.to_string());
        Ok(probe.step(&DECIDE, &self.id, sql.execute(update), rows).await? > 0)
    }

    /// Ends it, deletes its undo log in this database and releases the lock. False when it had ended before.
    pub(super) async fn end(&self, probe: &Probe, sql: &mut Connection) -> Result<bool, Error> {
        let delete = query(
            "delete t, u from at_transactions t left join undo_log u on u.id = t.id and u.after_image is not null \
             where t.item = ? and t.id = ?",
        )
        .bind(self.item.as_str())
        .bind(self.id.to_string());
        Ok(probe.step(&END, &self.item, sql.execute(delete), rows).await? > 0)
    }

    /// Leaves the transaction and its lock to an operator.
    pub(super) async fn mark_dirty(&self, probe: &Probe, sql: &mut Connection) -> Result<(), Error> {
        let update = query("update at_transactions set state = 'dirty' where item = ? and id = ?")
            .bind(self.item.as_str())
            .bind(self.id.to_string());
        let marked = probe.step(&MARK_DIRTY, &self.id, sql.execute(update), rows);
        marked.await.map(drop)
    }
}

/// Returns a batch of overdue transactions of a mechanism, except those left to an operator.
pub(super) async fn overdue(mechanism: &str, probe: &Probe, sql: &mut Connection) -> Result<Vec<Overdue>, Error> {
    let select = query(
        "select item, id, state = 'committed', state = 'rolling back', \
             timestampdiff(microsecond, begun, now(6)) div 1000 \
         from at_transactions where deadline < now(6) and state <> 'dirty' and mechanism = ? order by deadline limit ?",
    )
    .bind(mechanism)
    .bind(BATCH as u64);
    let words = |rows: &Vec<Row>| format!("{} overdue", rows.len());
    let found = probe
        .step(&OVERDUE, &"transactions", sql.fetch_all(select), words)
        .await?;
    let overdue = |row: &Row| {
        let transaction = Transaction {
            item: Name::parse(&row.try_get::<String>(0)?).map_err(corrupt)?,
            id: row.try_get::<String>(1)?.parse().map_err(corrupt)?,
        };
        let decided = match (row.try_get::<i64>(2)?, row.try_get::<i64>(3)?) {
            (1, _) => Some(Decided::Committed),
            (_, 1) => Some(Decided::RollingBack),
            _ => None,
        };
        Ok(Overdue {
            transaction,
            decided,
            hung_ms: row.try_get::<i64>(4)?.max(0) as u64,
        })
    };
    found.iter().map(overdue).collect()
}

pub(super) fn corrupt(error: impl ToString) -> Error {
    Error::Corrupt {
        store: Sql::NAME,
        what: error.to_string(),
    }
}
