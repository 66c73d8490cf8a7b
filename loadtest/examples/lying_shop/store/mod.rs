//! Stock and orders in the places that the contract names.

pub mod redis;
pub mod reserves;
mod sql;

use anyhow::Result;

pub use self::redis::RedisStore;
pub use self::sql::SqlStore;

/// An order as the ledger has it.
#[derive(Clone, Debug)]
pub struct Order {
    pub id: String,
    pub quantity: i64,
    pub buyer: Option<String>,
    pub key: Option<String>,
}

/// What came of an attempt to sell.
pub enum Sale {
    Sold,
    /// The ledger has an order of that id already.
    Known(Order),
    SoldOut,
    /// No such sale is open.
    Gone,
}

#[derive(Clone)]
pub enum Store {
    Redis(RedisStore),
    Sql(SqlStore),
}

/// Passes a call on to whichever store it is.
macro_rules! either {
    ($self:ident, $call:ident ( $($argument:expr),* )) => {
        match $self {
            Store::Redis(store) => store.$call($($argument),*).await,
            Store::Sql(store) => store.$call($($argument),*).await,
        }
    };
}

impl Store {
    /// A sale with so many units and no orders, whatever was there before.
    pub async fn open(&self, item: &str, stock: i64) -> Result<()> {
        self.close(item).await?;
        self.put_stock(item, stock).await
    }

    pub async fn close(&self, item: &str) -> Result<()> {
        either!(self, close(item))
    }

    /// Units left; None when no such sale is open.
    pub async fn stock(&self, item: &str) -> Result<Option<i64>> {
        either!(self, stock(item))
    }

    /// Sets the counter, whatever it was.
    pub async fn put_stock(&self, item: &str, stock: i64) -> Result<()> {
        either!(self, put_stock(item, stock))
    }

    /// Takes the counter away; the ledger stays.
    pub async fn remove_stock(&self, item: &str) -> Result<()> {
        either!(self, remove_stock(item))
    }

    /// Changes the counter, whatever it was.
    pub async fn change(&self, item: &str, by: i64) -> Result<()> {
        either!(self, change(item, by))
    }

    /// Takes units, if they and `keep` more are there; says whether it did.
    pub async fn take(&self, item: &str, units: i64, keep: i64) -> Result<bool> {
        either!(self, take(item, units, keep))
    }

    pub async fn find(&self, item: &str, id: &str) -> Result<Option<Order>> {
        either!(self, find(item, id))
    }

    pub async fn orders(&self, item: &str) -> Result<Vec<Order>> {
        either!(self, orders(item))
    }

    /// Enters an order, in place of the one with that id if there is one.
    pub async fn record(&self, item: &str, order: &Order) -> Result<()> {
        either!(self, record(item, order))
    }

    /// Enters many new orders.
    pub async fn record_all(&self, item: &str, orders: &[Order]) -> Result<()> {
        either!(self, record_all(item, orders))
    }

    pub async fn delete(&self, item: &str, id: &str) -> Result<()> {
        either!(self, delete(item, id))
    }

    /// The honest sale, in one step: unless the ledger has the order already, takes `units`, if they and `keep` more are
    /// there, and enters the order.
    pub async fn sell(&self, item: &str, order: &Order, units: i64, keep: i64) -> Result<Sale> {
        either!(self, sell(item, order, units, keep))
    }
}
