//! The other two ledgers, read straight from the stores by clients of our own: the orders recorded and the stock left.

mod redis;
mod sql;

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::time::{Instant, sleep};

use self::redis::Redis;
use self::sql::Sql;
use crate::shop::{BACK_WITHIN, Store};

/// An order as the ledger holds it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Order {
    /// Its id.
    pub id: String,
    /// Units.
    pub quantity: i64,
    /// The idempotency key it was made with.
    pub key: Option<String>,
}

/// What a store says of one sale.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The counter.
    pub stock_left: i64,
    /// The ledger, at most as long as was asked for.
    pub orders: Vec<Order>,
    /// Whether the ledger was longer than that.
    pub cut_short: bool,
}

/// The stores' URLs.
#[derive(Clone)]
pub struct Urls {
    /// Redis. May hold a password.
    pub redis: String,
    /// MariaDB. May hold a password.
    pub sql: String,
}

/// The reader of the stores.
pub struct Books {
    redis: Redis,
    sql: Sql,
}

/// How long the stores may go on changing after the last answer.
const SETTLE_WITHIN: Duration = Duration::from_secs(2);

/// Two looks this far apart that agree are taken for rest.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

impl Books {
    /// Connects to both stores.
    ///
    /// # Errors
    /// When one cannot be reached.
    pub async fn open(urls: &Urls) -> Result<Self> {
        Ok(Self {
            redis: Redis::connect(&urls.redis)
                .await
                .context("the witness cannot read Redis")?,
            sql: Sql::connect(&urls.sql)
                .await
                .context("the witness cannot read MariaDB")?,
        })
    }

    /// One look at a sale, at most `limit` orders of it. A store that is just being restarted is waited for.
    ///
    /// # Errors
    /// When the store does not answer, holds no such sale, or holds an entry that is against the contract.
    pub async fn read(&self, store: Store, item: &str, limit: usize) -> Result<Facts> {
        let deadline = Instant::now() + BACK_WITHIN;
        loop {
            let facts = match store {
                Store::Redis => self.redis.read(item, limit).await,
                Store::Sql => self.sql.read(item, limit).await,
            };
            if facts.is_ok() || Instant::now() >= deadline {
                return facts.with_context(|| format!("could not read the facts of {item} from {store:?}"));
            }
            sleep(BETWEEN_LOOKS).await;
        }
    }

    /// Looks until two looks agree: a purchase whose buyer gave up may still be writing.
    ///
    /// # Errors
    /// As [`Books::read`].
    pub async fn settled(&self, store: Store, item: &str, limit: usize) -> Result<Facts> {
        let deadline = Instant::now() + SETTLE_WITHIN;
        let mut last = self.read(store, item, limit).await?;
        loop {
            sleep(BETWEEN_LOOKS).await;
            let now = self.read(store, item, limit).await?;
            if now == last || Instant::now() >= deadline {
                return Ok(now);
            }
            last = now;
        }
    }

    /// Versions of Redis and of MariaDB.
    ///
    /// # Errors
    /// When a store does not answer.
    pub async fn versions(&self) -> Result<(String, String)> {
        Ok((self.redis.version().await?, self.sql.version().await?))
    }
}
