//! Stock and orders in Redis: `stock:{item}` is the counter, `orders:{item}` a hash of order id to order.
//!
//! The braces are literal. They make a cluster keep all keys of one item on one node, so that scripts and transactions
//! can reach them together.

use std::time::Duration;

use async_trait::async_trait;
use deadpool_redis::{Manager, Pool, Runtime};
use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{AsyncCommands, AsyncConnectionConfig, pipe};
use serde::{Deserialize, Serialize};

use super::{ANSWER_WITHIN, CONNECT_WITHIN, POOL_SIZE, Shelf, Stock};
use crate::probe::{Probe, Step};
use crate::sale::{Error, Name, Order, Purchase};

/// How often a lost connection is tried again before a command is told so, 0.1 to 0.2 s and then 0.2 to 0.4 s apart. With
/// the client's own six, each purchase would wait ten seconds for a Redis that is gone.
const RECONNECTS: usize = 2;

/// The key of an item's lock.
pub fn lock_key(item: &Name) -> String {
    format!("lock:{{{item}}}")
}

/// The channel on which the end of an item's lock is told.
pub fn released_channel(item: &Name) -> String {
    format!("released:{{{item}}}")
}

/// Attempts to reconnect before a command is told that Redis is away.
const RETRIES: usize = 2;

/// One instance's connections to Redis.
pub struct Redis {
    client: redis::Client,
    shared: ConnectionManager,
    pool: Pool,
    instance: Name,
}

/// An order as `orders:{item}` holds it. docs/contract.md is the reader's side of this.
#[derive(Serialize, Deserialize)]
struct Entry {
    quantity: u32,
    buyer: String,
    idempotency_key: Option<String>,
    instance: String,
}

impl Redis {
    pub(super) async fn connect(url: &str, instance: &Name, wait: Duration) -> Result<Self, Error> {
        let client = redis::Client::open(url)?;
        let limits = ConnectionManagerConfig::new()
            .set_number_of_retries(RECONNECTS)
            .set_response_timeout(Some(ANSWER_WITHIN))
            .set_connection_timeout(Some(CONNECT_WITHIN))
            // Past these the next command tries again: a purchase shall not wait for a store that is down.
            .set_number_of_retries(RETRIES)
            .set_max_delay(CONNECT_WITHIN);
        let limits_of_one = AsyncConnectionConfig::new()
            .set_response_timeout(Some(ANSWER_WITHIN))
            .set_connection_timeout(Some(CONNECT_WITHIN));
        let pool = Pool::builder(Manager::new_with_config(url, limits_of_one)?)
            .max_size(POOL_SIZE)
            .wait_timeout(Some(wait))
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|_| redis::RedisError::from((redis::ErrorKind::Client, "the pool could not be built")))?;
        Ok(Self {
            shared: client.get_connection_manager_with_config(limits).await?,
            client,
            pool,
            instance: instance.clone(),
        })
    }

    /// The connection that all purchases share: commands of different purchases travel on it side by side.
    pub fn shared(&self) -> ConnectionManager {
        self.shared.clone()
    }

    /// A connection of one's own, for WATCH, whose state belongs to the connection.
    ///
    /// # Errors
    /// When Redis cannot be reached.
    pub async fn own(&self) -> Result<deadpool_redis::Connection, Error> {
        Ok(self.pool.get().await?)
    }

    /// A new connection that only listens.
    ///
    /// # Errors
    /// When Redis cannot be reached.
    pub async fn subscriber(&self) -> Result<redis::aio::PubSub, Error> {
        Ok(self.client.get_async_pubsub().await?)
    }

    /// The counter's key.
    pub fn stock_key(item: &Name) -> String {
        format!("stock:{{{item}}}")
    }

    /// The ledger's key.
    pub fn orders_key(item: &Name) -> String {
        format!("orders:{{{item}}}")
    }

    /// The ledger entry of a purchase made through this instance.
    pub fn entry(&self, purchase: &Purchase) -> String {
        serde_json::json!(Entry {
            quantity: purchase.quantity,
            buyer: purchase.buyer.to_string(),
            idempotency_key: purchase.key.as_ref().map(Name::to_string),
            instance: self.instance.to_string(),
        })
        .to_string()
    }

    /// Reads a ledger entry back.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when it is not one of ours.
    pub fn order(entry: &str) -> Result<Order, Error> {
        let entry: Entry = serde_json::from_str(entry).map_err(|error| Error::Corrupt {
            store: "redis",
            what: error.to_string(),
        })?;
        Ok(Order {
            quantity: entry.quantity,
            buyer: entry.buyer,
        })
    }
}

#[async_trait]
impl Stock for Redis {
    fn name(&self) -> &'static str {
        "redis"
    }

    async fn read(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<Shelf>, Error> {
        probe.at(Step::Read).await;
        let (left, entry): (Option<i64>, Option<String>) = pipe()
            .get(Self::stock_key(&purchase.item))
            .hget(Self::orders_key(&purchase.item), purchase.order.to_string())
            .query_async(&mut self.shared())
            .await?;
        let order = entry.as_deref().map(Self::order).transpose()?;
        Ok(left.map(|left| Shelf { left, order }))
    }

    async fn write(&self, purchase: &Purchase, left: i64, probe: &Probe) -> Result<bool, Error> {
        probe.at(Step::Write).await;
        let order = purchase.order.to_string();
        pipe()
            .atomic()
            .set(Self::stock_key(&purchase.item), left)
            .hset(Self::orders_key(&purchase.item), order, self.entry(purchase))
            .exec_async(&mut self.shared())
            .await?;
        Ok(true)
    }

    async fn open(&self, item: &Name, stock: i64) -> Result<(), Error> {
        pipe()
            .atomic()
            .set(Self::stock_key(item), stock)
            .del(Self::orders_key(item))
            .exec_async(&mut self.shared())
            .await?;
        Ok(())
    }

    async fn open_if_absent(&self, item: &Name, stock: i64) -> Result<(), Error> {
        let _: bool = self.shared().set_nx(Self::stock_key(item), stock).await?;
        Ok(())
    }

    async fn close(&self, item: &Name) -> Result<(), Error> {
        let keys = [Self::stock_key(item), Self::orders_key(item), lock_key(item)];
        let _: u64 = self.shared().del(&keys).await?;
        Ok(())
    }

    async fn ping(&self) -> Result<(), Error> {
        Ok(redis::cmd("PING").exec_async(&mut self.shared()).await?)
    }
}
