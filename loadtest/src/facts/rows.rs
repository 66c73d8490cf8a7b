//! Facts from the rows of an SQL database: those of `sql/facts.sql`, and those of a statement with the same columns.

use anyhow::Result;
use sqlx::mysql::MySqlRow;
use sqlx::postgres::PgRow;
use sqlx::{AssertSqlSafe, Row, SqlSafeStr, SqlStr};

use super::{Facts, Order};

/// The first of the columns of an order in the facts.
const FIRST_OF_ORDER: usize = 1;

const IS_ORDER: usize = 5;
const STORE_ID: usize = 6;
const ORDER_ITEM: usize = 7;
/// The units in rows of their own, where the statement reads them.
const UNITS: usize = 8;

/// The place of the last column in the statement of the facts.
const BEFORE_TABLES: &str = "\nfrom store s";

/// Returns the statement of the facts with one more column. Counter and units are read at one moment.
pub(super) fn with_units(facts: &str, units: &str) -> SqlStr {
    let column = format!(",\n       {units}{BEFORE_TABLES}");
    // Both are texts of this crate.
    AssertSqlSafe(facts.replace(BEFORE_TABLES, &column)).into_sql_str()
}

/// A row of any kind of database.
pub(super) trait LedgerRow {
    fn text(&self, column: usize) -> sqlx::Result<Option<String>>;
    fn flag(&self, column: usize) -> sqlx::Result<bool>;
    fn columns(&self) -> usize;
}

impl LedgerRow for MySqlRow {
    fn text(&self, column: usize) -> sqlx::Result<Option<String>> {
        self.try_get(column)
    }

    fn flag(&self, column: usize) -> sqlx::Result<bool> {
        self.try_get(column)
    }

    fn columns(&self) -> usize {
        self.len()
    }
}

impl LedgerRow for PgRow {
    fn text(&self, column: usize) -> sqlx::Result<Option<String>> {
        self.try_get(column)
    }

    fn flag(&self, column: usize) -> sqlx::Result<bool> {
        self.try_get(column)
    }

    fn columns(&self) -> usize {
        self.len()
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
        let left = left(row)?;
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

/// Returns the stock that is left: the counter, and the units in rows of their own. `None` where one of them is no number.
fn left(row: &impl LedgerRow) -> Result<Option<i64>> {
    let counter = number(row.text(0)?);
    if row.columns() <= UNITS {
        return Ok(counter);
    }
    let units = number(row.text(UNITS)?);
    Ok(counter
        .zip(units)
        .and_then(|(counter, units)| counter.checked_add(units)))
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
