//! The undo log of a database: the images of the row that a branch has changed, and how they are restored.

use serde_json::{Value, json};

use super::transaction::{Transaction, corrupt};
use crate::domain::{Error, Purchase};
use crate::probe::{Probe, Step};
use crate::stores::sql::{BEGIN, COMMIT, Connection, ROLLBACK, Row, query, rows};

pub(super) const LOG_IMAGES: Step = Step::command("log-images", &["insert"]);
pub(super) const DELETE_IMAGES: Step = Step::command("delete-images", &["delete"]);
pub(super) const READ_IMAGES: Step = Step::command("read-images", &["select"]);
pub(super) const RESTORE_STOCK: Step = Step::command("restore-stock", &["update"]);
pub(super) const RESTORE_ORDERS: Step = Step::command("restore-orders", &["delete"]);

/// The table, in both databases.
pub(super) const TABLE: &str = include_str!("undo_log.sql");

/// A row before and after a change. The image before an insert is null.
pub(super) struct Images {
    before: Value,
    after: Value,
}

/// The row that a branch has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Branch {
    /// The counter of the item.
    Stock,
    /// The order.
    Orders,
}

impl Images {
    pub(super) fn of_stock(before: i64, after: i64) -> Self {
        Self {
            before: json!({ "num": before }),
            after: json!({ "num": after }),
        }
    }

    pub(super) fn of_order(purchase: &Purchase) -> Self {
        let (order, quantity, buyer) = (purchase.order.to_string(), purchase.quantity, purchase.buyer.as_str());
        Self {
            before: Value::Null,
            after: json!({ "id": order, "quantity": quantity, "buyer": buyer }),
        }
    }

    /// Inserts the images, in the local transaction that changed the row. False when the branch was rolled back before.
    pub(super) async fn log(&self, of: &Transaction, probe: &Probe, sql: &mut Connection) -> Result<bool, Error> {
        let insert = query("insert into undo_log (id, item, before_image, after_image) values (?, ?, ?, ?)")
            .bind(of.id.to_string())
            .bind(of.item.as_str())
            .bind(self.before.to_string())
            .bind(self.after.to_string());
        match probe.step(&LOG_IMAGES, &of.id, sql.execute(insert), rows).await {
            Ok(_) => Ok(true),
            Err(Error::Duplicate) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn read(row: &Row) -> Result<Option<Self>, Error> {
        let (before, after): (Option<String>, Option<String>) = (row.try_get(0)?, row.try_get(1)?);
        let Some((before, after)) = before.zip(after) else {
            return Ok(None);
        };
        Ok(Some(Self {
            before: serde_json::from_str(&before).map_err(corrupt)?,
            after: serde_json::from_str(&after).map_err(corrupt)?,
        }))
    }

    /// Restores the row if it still equals the after image. False when another writer has changed it.
    async fn restore(
        &self,
        branch: Branch,
        of: &Transaction,
        probe: &Probe,
        sql: &mut Connection,
    ) -> Result<bool, Error> {
        let Self { before, after } = self;
        let (step, restore) = match branch {
            Branch::Stock => (
                &RESTORE_STOCK,
                query("update store set num = ? where id = ? and num = ?")
                    .bind(before["num"].as_i64())
                    .bind(of.item.as_str())
                    .bind(after["num"].as_i64()),
            ),
            Branch::Orders => (
                &RESTORE_ORDERS,
                query("delete from orders where id = ? and quantity = ? and buyer = ?")
                    .bind(after["id"].as_str())
                    .bind(after["quantity"].as_i64())
                    .bind(after["buyer"].as_str()),
            ),
        };
        Ok(probe.step(step, &of.item, sql.execute(restore), rows).await? > 0)
    }
}

/// Deletes the images of a transaction that is committed.
pub(super) async fn delete(of: &Transaction, probe: &Probe, sql: &mut Connection) -> Result<(), Error> {
    let delete = query("delete from undo_log where id = ?").bind(of.id.to_string());
    let deleted = probe.step(&DELETE_IMAGES, &of.id, sql.execute(delete), rows);
    deleted.await.map(drop)
}

/// Undoes a branch in one local transaction. False when that would overwrite another write. A branch that has not
/// committed yet no longer can.
pub(super) async fn undo(branch: Branch, of: &Transaction, probe: &Probe, sql: &mut Connection) -> Result<bool, Error> {
    probe.step(&BEGIN, &of.id, sql.begin(), |()| "begun").await?;
    let select =
        query("select before_image, after_image from undo_log where id = ? for update").bind(of.id.to_string());
    let words = |row: &Option<Row>| if row.is_some() { "found" } else { "none" };
    let is_clean = match probe.step(&READ_IMAGES, &of.id, sql.fetch(select), words).await? {
        None => {
            let insert = query("insert into undo_log (id, item) values (?, ?)")
                .bind(of.id.to_string())
                .bind(of.item.as_str());
            probe.step(&LOG_IMAGES, &of.id, sql.execute(insert), rows).await?;
            true
        }
        Some(row) => match Images::read(&row)? {
            None => true,
            Some(images) => {
                let is_clean = images.restore(branch, of, probe, sql).await?;
                if is_clean {
                    delete(of, probe, sql).await?;
                }
                is_clean
            }
        },
    };
    match is_clean {
        true => probe.step(&COMMIT, &of.id, sql.commit(), |()| "committed").await?,
        false => {
            probe
                .step(&ROLLBACK, &of.id, sql.rollback(), |()| "rolled back")
                .await?
        }
    }
    Ok(is_clean)
}
