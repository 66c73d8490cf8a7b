//! Stock and orders, where the contract says.

pub mod redis;
pub mod reserves;
mod sql;

use anyhow::Result;

pub use self::redis::RedisStore;
pub use self::sql::SqlStore;

/// An order in the ledger.
#[derive(Clone, Debug)]
pub struct Order {
    pub id: String,
    pub quantity: i64,
    pub buyer: Option<String>,
    pub key: Option<String>,
}

/// The result of an attempt to sell.
pub enum Sale {
    Sold,
    /// The ledger already has an order of that id.
    Known(Order),
    SoldOut,
    /// No sale of the item is open.
    Gone,
}

#[derive(Clone)]
pub enum Store {
    Redis(RedisStore),
    Sql(SqlStore),
}

/// Calls the same method of either store.
macro_rules! either {
    ($self:ident, $call:ident ( $($argument:expr),* )) => {
        match $self {
            Store::Redis(store) => store.$call($($argument),*).await,
            Store::Sql(store) => store.$call($($argument),*).await,
        }
    };
}

impl Store {
    /// Opens a sale with `stock` units and no orders. An earlier sale is deleted.
    pub async fn open(&self, item: &str, stock: i64) -> Result<()> {
        self.close(item).await?;
        self.put_stock(item, stock).await
    }

    pub async fn close(&self, item: &str) -> Result<()> {
        either!(self, close(item))
    }

    /// Returns the units left; `None` when no sale of the item is open.
    pub async fn stock(&self, item: &str) -> Result<Option<i64>> {
        either!(self, stock(item))
    }

    /// Sets the counter, whatever its value was.
    pub async fn put_stock(&self, item: &str, stock: i64) -> Result<()> {
        either!(self, put_stock(item, stock))
    }

    /// Deletes the counter; the ledger stays.
    pub async fn remove_stock(&self, item: &str) -> Result<()> {
        either!(self, remove_stock(item))
    }

    /// Adds `by` to the counter, whatever its value was.
    pub async fn change(&self, item: &str, by: i64) -> Result<()> {
        either!(self, change(item, by))
    }

    /// Takes `units` if they and `keep` more are left. Returns whether it did.
    pub async fn take(&self, item: &str, units: i64, keep: i64) -> Result<bool> {
        either!(self, take(item, units, keep))
    }

    pub async fn find(&self, item: &str, id: &str) -> Result<Option<Order>> {
        either!(self, find(item, id))
    }

    pub async fn orders(&self, item: &str) -> Result<Vec<Order>> {
        either!(self, orders(item))
    }

    /// Records an order, in place of one with the same id.
    pub async fn record(&self, item: &str, order: &Order) -> Result<()> {
        either!(self, record(item, order))
    }

    /// Records many new orders.
    pub async fn record_all(&self, item: &str, orders: &[Order]) -> Result<()> {
        either!(self, record_all(item, orders))
    }

    pub async fn delete(&self, item: &str, id: &str) -> Result<()> {
        either!(self, delete(item, id))
    }

    /// The honest sale in one step: unless the ledger already has the order, takes `units` if they and `keep` more are
    /// left, and records the order.
    pub async fn sell(&self, item: &str, order: &Order, units: i64, keep: i64) -> Result<Sale> {
        either!(self, sell(item, order, units, keep))
    }
}
