//! The stock and the orders of a shop, as its file says how to read them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use serde_json::Value;
use tokio::time::sleep;

use crate::description::{OrderReading, RequestLine, Step, StockReading, Template, Values};
use crate::judged::Orders;
use crate::ledger::{self, Rows};
use crate::sale::Sale;
use crate::session::Session;
use crate::trial::Trial;

/// The pause between two readings. Two equal ones mean that the shop is at rest.
const READ_EVERY: Duration = Duration::from_millis(100);

/// The longest time for which stock and orders may change after the last answer.
const SETTLE_WITHIN: Duration = Duration::from_secs(5);

/// What is read of one item of a shop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The units that are left.
    pub left: i64,
    /// The orders.
    pub orders: Orders,
}

impl Trial {
    /// Reads stock and orders of each item of a sale with these values.
    ///
    /// # Errors
    /// When a store or the shop does not answer, or the answer has no such number.
    pub(crate) async fn read(&self, values: &Values) -> Result<Vec<Reading>> {
        let mut readings = Vec::new();
        for item in &self.description.item {
            let left = self.read_stock(&item.stock, values).await;
            let orders = match &item.orders {
                Some(orders) => self.read_orders(orders, values).await,
                None => Ok(Orders::NotRead),
            };
            readings.push(Reading {
                left: left.with_context(|| item.part("stock"))?,
                orders: orders.with_context(|| item.part("orders"))?,
            });
        }
        Ok(readings)
    }

    /// Reads until two readings agree: the shop may still be at work.
    pub(crate) async fn settled(&self, sale: &Sale) -> Result<Vec<Reading>> {
        let deadline = Instant::now() + SETTLE_WITHIN;
        let mut last = self.read(&sale.values).await?;
        loop {
            sleep(READ_EVERY).await;
            let now = self.read(&sale.values).await?;
            if now == last || Instant::now() >= deadline {
                return Ok(now);
            }
            last = now;
        }
    }

    /// Returns the URL of a store: its own, or that of the whole file.
    pub(crate) fn store(&self, own: Option<&Template>) -> String {
        let store = own.or(self.description.store.as_ref());
        store.map_or_else(String::new, |store| store.filled(&Values::new()))
    }

    async fn read_stock(&self, stock: &StockReading, values: &Values) -> Result<i64> {
        let text = match (&stock.read, &stock.request) {
            (Some(read), _) => first(self.rows(read, stock.store.as_ref(), values).await?),
            (None, Some(line)) => {
                let body = self.ask(line, &stock.headers, values).await?;
                stock.json.text(&body)
            }
            (None, None) => None,
        };
        let text = text.context("nothing is found: no row, or no value in it")?;
        units(&text).with_context(|| format!("{text:?} is found, which is no number of units"))
    }

    async fn read_orders(&self, orders: &OrderReading, values: &Values) -> Result<Orders> {
        if let Some(count) = &orders.count {
            let counted = first(self.rows(count, orders.store.as_ref(), values).await?);
            let counted = counted.as_deref().and_then(units);
            return Ok(Orders::Counted(counted.context("`count` finds no number")?));
        }
        let tied: Option<Vec<_>> = if let Some(read) = &orders.read {
            let rows = self.rows(read, orders.store.as_ref(), values).await?;
            rows.into_iter().map(|row| of_row(orders, row)).collect()
        } else {
            let line = orders.request.as_ref().context("nothing is read")?;
            let body = self.ask(line, &orders.headers, values).await?;
            let list = orders.each.list(&body).context("`each` finds no list")?;
            ensure!(list.len() <= ledger::MOST_ROWS, "there are too many orders");
            list.iter().map(|order| of_json(orders, order)).collect()
        };
        Ok(Orders::Tied(
            tied.context("an order has no buyer, or no number of units")?,
        ))
    }

    async fn rows(&self, read: &Template, store: Option<&Template>, values: &Values) -> Result<Rows> {
        let rows = ledger::read(&self.store(store), &read.filled(values)).await;
        rows.with_context(|| format!("`{}`", read.hidden(values)))
    }

    /// Asks the shop for a JSON document.
    async fn ask(&self, line: &RequestLine, headers: &BTreeMap<String, Template>, values: &Values) -> Result<Value> {
        let session = Session::new(self.base(), &self.trust, values.clone())?;
        let step = Step::reading(line.clone(), headers.clone());
        let shown = line.hidden(values);
        let (answer, _) = session.send(&step).await.with_context(|| shown.clone())?;
        ensure!(answer.status == 200, "{shown}: status {}", answer.status);
        serde_json::from_str(&answer.body).map_err(|error| anyhow!("{shown}: {error}"))
    }
}

fn first(rows: Rows) -> Option<String> {
    rows.into_iter().next()?.into_iter().next()?
}

/// Returns buyer and units of an order that is a row.
fn of_row(orders: &OrderReading, row: Vec<Option<String>>) -> Option<(String, i64)> {
    let mut row = row.into_iter();
    let buyer = row.next().flatten().unwrap_or_default();
    if orders.json.is_some() {
        return of_json(orders, &serde_json::from_str(&buyer).ok()?);
    }
    let units = match row.next() {
        Some(text) => units(text.as_deref()?)?,
        None => 1,
    };
    Some((buyer, units))
}

/// Returns buyer and units of an order that is JSON.
fn of_json(orders: &OrderReading, order: &Value) -> Option<(String, i64)> {
    let buyer = orders.json.clone().unwrap_or_default().text(order)?;
    let units = match &orders.units {
        Some(at) => units(&at.text(order)?)?,
        None => 1,
    };
    Some((buyer, units))
}

/// Returns the whole number in a text, such as `3` or `3.000`.
fn units(text: &str) -> Option<i64> {
    let text = text.trim();
    let whole = match text.split_once('.') {
        Some((whole, rest)) if rest.chars().all(|digit| digit == '0') => whole,
        Some(_) => return None,
        None => text,
    };
    whole.parse().ok()
}
