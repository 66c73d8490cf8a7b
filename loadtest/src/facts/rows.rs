//! Facts from the rows of an SQL database: those of `sql/facts.sql`, and those of a statement with the same columns.

use anyhow::Result;
use sqlx::Row;
use sqlx::mysql::MySqlRow;
use sqlx::postgres::PgRow;

use super::{Facts, Order};

/// The first of the columns of an order in the facts.
const FIRST_OF_ORDER: usize = 1;

const IS_ORDER: usize = 5;
const STORE_ID: usize = 6;
const ORDER_ITEM: usize = 7;

/// A row of any kind of database.
pub(super) trait LedgerRow {
    fn text(&self, column: usize) -> sqlx::Result<Option<String>>;
    fn flag(&self, column: usize) -> sqlx::Result<bool>;
}

impl LedgerRow for MySqlRow {
    fn text(&self, column: usize) -> sqlx::Result<Option<String>> {
        self.try_get(column)
    }

    fn flag(&self, column: usize) -> sqlx::Result<bool> {
        self.try_get(column)
    }
}

impl LedgerRow for PgRow {
    fn text(&self, column: usize) -> sqlx::Result<Option<String>> {
        self.try_get(column)
    }

    fn flag(&self, column: usize) -> sqlx::Result<bool> {
        self.try_get(column)
    }
}

/// Returns the facts of the rows. A collation may let other items match, which do not count.
pub(super) fn facts(rows: &[impl LedgerRow], item: &str, limit: usize) -> Result<Facts> {
    let mut facts = Facts {
        cut_short: rows.len() > limit,
        ..Facts::default()
    };
    let mut of_item = Vec::new();
    for row in rows {
        if is_named(row, STORE_ID, item)? {
            of_item.push(row);
        }
    }
    for (nth, row) in of_item.into_iter().enumerate() {
        let left = number(row.text(0)?);
        facts.stock_left = if nth == 0 {
            left
        } else {
            facts.stock_left.filter(|first| left == Some(*first))
        };
        if !row.flag(IS_ORDER)? || !is_named(row, ORDER_ITEM, item)? {
            continue;
        }
        match order(row, FIRST_OF_ORDER)? {
            Some(order) => facts.orders.push(order),
            None => facts.unreadable += 1,
        }
    }
    facts.orders.sort();
    Ok(facts)
}

/// Reads the order in the four columns from that one on; `None` where it has no id, or no number of units.
pub(super) fn order(row: &impl LedgerRow, first: usize) -> Result<Option<Order>> {
    let id = row.text(first)?;
    let (buyer, key) = (row.text(first + 2)?, row.text(first + 3)?);
    let order = id.zip(number(row.text(first + 1)?)).map(|(id, quantity)| Order {
        id,
        quantity,
        buyer,
        key,
    });
    Ok(order)
}

/// Returns whether the text in this column is that name, byte by byte.
fn is_named(row: &impl LedgerRow, column: usize, name: &str) -> Result<bool> {
    Ok(row.text(column)?.as_deref() == Some(name))
}

fn number(text: Option<String>) -> Option<i64> {
    text?.parse().ok()
}
