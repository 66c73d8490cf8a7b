//! The other two ledgers, read straight from the stores by clients of our own: the orders recorded and the stock left.
//!
//! What a store holds was written by the shop on trial: it is bounded in bytes and in time, and what cannot be read is
//! a fact, not an error.

mod idle;
mod metered;
mod redis;
mod sql;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use tokio::time::{sleep, timeout};

use self::redis::Redis;
use self::sql::Sql;
use crate::catalogue::Store;
use crate::shop::BACK_WITHIN;
use crate::text::{MAX_NAME, one_line};

/// An order as the ledger holds it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Order {
    /// Its id.
    pub id: String,
    /// Units.
    pub quantity: i64,
    /// Who bought.
    pub buyer: Option<String>,
    /// The idempotency key it was made with.
    pub key: Option<String>,
}

/// What a store says of one sale.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The counter; `None` when it is missing or no number.
    pub stock_left: Option<i64>,
    /// The ledger, at most as long as was asked for, in the order of the ids.
    pub orders: Vec<Order>,
    /// Entries of the ledger that are none.
    pub unreadable: usize,
    /// Whether the ledger was longer, or larger in bytes, than any honest one.
    pub cut_short: bool,
}

/// One look at the ledgers.
#[derive(Clone, Debug)]
pub struct Look {
    /// When it began: what was told before has to be in it.
    pub begun: Instant,
    /// Whether all purchases had been answered and the sale was over: everything has to agree then.
    pub at_rest: bool,
    /// What was seen.
    pub facts: Facts,
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
pub struct LedgerReader {
    redis: Redis,
    sql: Sql,
}

/// How long one look may take: a store that is locked does not answer at all.
const READ_WITHIN: Duration = Duration::from_secs(5);

/// The most that is shown of an error, in characters.
const MAX_WORDS: usize = 300;

/// How long the stores may go on changing after the last answer.
const SETTLE_WITHIN: Duration = Duration::from_secs(2);

/// Two looks this far apart that agree are taken for rest.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

impl LedgerReader {
    /// Connects to both stores.
    ///
    /// # Errors
    /// When one cannot be reached.
    pub async fn connect(urls: &Urls) -> Result<Self> {
        let reader = Self {
            redis: Redis::new(&urls.redis).context("the URL of Redis")?,
            sql: Sql::new(&urls.sql).context("the URL of MariaDB")?,
        };
        reader.versions().await?;
        Ok(reader)
    }

    /// Reads a sale, at most `limit` orders of it. A store that is just being restarted is waited for.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn read(&self, store: Store, item: &str, limit: usize) -> Result<Facts> {
        let deadline = Instant::now() + BACK_WITHIN;
        loop {
            let facts = self.read_once(store, item, limit).await;
            if facts.is_ok() || Instant::now() >= deadline {
                return facts;
            }
            sleep(BETWEEN_LOOKS).await;
        }
    }

    /// Reads a sale once, now or not at all.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn read_once(&self, store: Store, item: &str, limit: usize) -> Result<Facts> {
        let read = async {
            match store {
                Store::Redis => self.redis.read(item, limit).await,
                Store::Sql => self.sql.read(item, limit).await,
            }
        };
        let late = || format!("no answer within {READ_WITHIN:?}: is the store, a table or a row locked?");
        let facts = timeout(READ_WITHIN, read).await.with_context(late).flatten();
        // A server's own words come last, and are not to be trusted either.
        let why = |error: anyhow::Error| one_line(&format!("{error:#}"), MAX_WORDS);
        facts.map_err(|error| anyhow!("the ledger of {item} in {store:?} cannot be read: {}", why(error)))
    }

    /// Reads until two looks agree: a purchase whose buyer gave up may still be writing.
    ///
    /// # Errors
    /// As [`LedgerReader::read`].
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
        let redis = timeout(READ_WITHIN, self.redis.version()).await;
        let redis = redis
            .context("no answer")
            .flatten()
            .context("the witness cannot read Redis")?;
        let sql = timeout(READ_WITHIN, self.sql.version()).await;
        let sql = sql
            .context("no answer")
            .flatten()
            .context("the witness cannot read MariaDB")?;
        Ok((one_line(&redis, MAX_NAME), one_line(&sql, MAX_NAME)))
    }
}
