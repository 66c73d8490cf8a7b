//! The orders of many purchases of one item, in one statement for any number of them. The orders are one JSON value,
//! which MariaDB reads as a table from 10.6 on, and PostgreSQL from 9.5 on. A statement with placeholders for each order would differ for each
//! number of orders, and be prepared anew.

use std::collections::HashMap;

use serde::Serialize;
use uuid::Uuid;

use super::{Connection, FIND, RECORD, Sql, query, rows};
use crate::domain::{Error, Name, Order, Purchase};
use crate::probe::Probe;

/// An order in the JSON value.
#[derive(Serialize)]
struct Entry<'a> {
    id: Uuid,
    quantity: u32,
    buyer: &'a str,
    idempotency_key: Option<&'a str>,
}

impl Sql {
    /// Finds the orders that these purchases made before. Purchases without an idempotency key are left out: their ids
    /// are new.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn find_all(
        &self,
        purchases: impl Iterator<Item = &Purchase>,
        item: &Name,
        probe: &Probe,
        sql: &mut Connection,
    ) -> Result<HashMap<Uuid, Order>, Error> {
        let with_key = purchases.filter(|purchase| purchase.key.is_some());
        let ids: Vec<_> = with_key.map(|purchase| purchase.order).collect();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        // With the collation of the column each id is looked up in its index. Otherwise MariaDB would read the whole
        // table.
        let select = query(
            "select o.id, o.quantity, o.buyer from json_table(?, '$[*]' columns \
             (id char(36) character set ascii collate ascii_bin path '$')) asked \
             straight_join orders o on o.id = asked.id",
        )
        .on_postgres(
            "select o.id, o.quantity, o.buyer from jsonb_array_elements_text(?::jsonb) asked \
             join orders o on o.id = asked",
        )
        .bind(serde_json::json!(ids).to_string());
        let words = |found: &Vec<_>| format!("{} bought before", found.len());
        let found = probe.step(&FIND, item, sql.fetch_all(select), words).await?;
        let mut orders = HashMap::new();
        for row in found {
            let id: String = row.try_get(0)?;
            let order = Order {
                quantity: row.try_get::<i64>(1)? as u32,
                buyer: row.try_get(2)?,
            };
            let id = id.parse().map_err(|error: uuid::Error| Error::Corrupt {
                store: self.engine().store(),
                what: error.to_string(),
            })?;
            orders.insert(id, order);
        }
        Ok(orders)
    }

    /// Enters the orders of these purchases, all or none of them.
    ///
    /// # Errors
    /// [`Error::Duplicate`] when the ledger holds one of them already. When the database refuses for any other reason.
    pub async fn record_all(
        &self,
        purchases: &[&Purchase],
        item: &Name,
        probe: &Probe,
        sql: &mut Connection,
    ) -> Result<(), Error> {
        let entries = purchases.iter().map(|purchase| Entry {
            id: purchase.order,
            quantity: purchase.quantity,
            buyer: purchase.buyer.as_str(),
            idempotency_key: purchase.key.as_ref().map(Name::as_str),
        });
        let entries: Vec<_> = entries.collect();
        let insert = query(
            "insert into orders (id, item, quantity, buyer, idempotency_key, instance) \
             select id, ?, quantity, buyer, idempotency_key, ? from json_table(?, '$[*]' columns \
             (id char(36) path '$.id', quantity bigint path '$.quantity', buyer varchar(64) path '$.buyer', \
             idempotency_key varchar(64) path '$.idempotency_key')) entered",
        )
        .on_postgres(
            "insert into orders (item, instance, id, quantity, buyer, idempotency_key) \
             select ?, ?, id, quantity, buyer, idempotency_key from jsonb_to_recordset(?::jsonb) \
             entered (id text, quantity bigint, buyer text, idempotency_key text)",
        )
        .bind(item.as_str())
        .bind(self.instance.as_str())
        .bind(serde_json::json!(entries).to_string());
        probe.step(&RECORD, item, sql.execute(insert), rows).await?;
        Ok(())
    }
}
