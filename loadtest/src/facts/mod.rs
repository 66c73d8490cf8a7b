//! The orders and the stock, read straight from the stores by clients of this crate.
//!
//! The content of a store was written by the shop on trial, so reading is bounded in bytes and in time. Unreadable
//! content is a fact, not an error.

mod cluster;
mod damaged;
mod idle;
mod metered;
mod pg;
mod reader_thread;
mod redis;
mod rows;
mod sql;
mod store_pair;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use async_trait::async_trait;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

pub use self::damaged::Damaged;
pub use self::store_pair::StorePair;
use crate::http::BACK_WITHIN;
use crate::text::{MAX_NAME, one_line};

/// The list of stores: each store's name, with the reader of its kind.
macro_rules! list {
    ($($store:literal => $file:ident::$ledger:ident,)*) => {
        /// The stores that can be read. For a remote shop each has an option for its URL, named after it.
        pub const STORES: &[&str] = &[$($store,)*];

        fn ledger(store: &str, url: &str) -> Result<Arc<dyn Ledger>> {
            match store {
                $($store => Ok(Arc::new($file::$ledger::new(url)?)),)*
                _ => Err(anyhow!("there is no reader for the store {store}")),
            }
        }
    };
}

list! {
    "redis" => redis::Redis,
    "sql" => sql::Sql,
    "sql-2" => sql::Sql,
    "pg" => pg::Pg,
    "cluster" => cluster::Cluster,
}

/// The reader of one kind of store.
#[async_trait]
trait Ledger: Send + Sync {
    /// Reads a sale, with at most `limit` of its orders.
    async fn read(&self, item: &str, limit: usize) -> Result<Facts>;

    /// Reads the orders of other items than these: of at most [`MOST_OTHER_ITEMS`] items.
    async fn elsewhere(&self, items: &HashSet<&str>) -> Result<Vec<Order>>;

    async fn version(&self) -> Result<String>;

    /// Lets the server check its own data, as far as it can.
    async fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// An order as the ledger holds it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Order {
    /// Its id.
    pub id: String,
    /// Units.
    pub quantity: i64,
    /// The buyer.
    pub buyer: Option<String>,
    /// The idempotency key it was made with.
    pub key: Option<String>,
}

/// The content of a store for one sale.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The counter; `None` when it is missing or not a number.
    pub stock_left: Option<i64>,
    /// The orders, sorted by id, at most as many as were asked for.
    pub orders: Vec<Order>,
    /// Entries of the ledger that are not orders.
    pub unreadable: usize,
    /// Whether the ledger has more entries, or more bytes, than any honest one.
    pub cut_short: bool,
    /// Whether parts of it were read one after the other: stock and orders may differ while buyers are at work.
    pub in_parts: bool,
}

/// One reading of the ledgers.
#[derive(Clone, Debug)]
pub struct Observation {
    /// When the reading began. Every sale told before has to be in it.
    pub begun: Instant,
    /// Whether the sale was over, so that all ledgers have to agree.
    pub at_rest: bool,
    /// The content of the stores.
    pub facts: Facts,
}

/// The stores' URLs, by the name of the store. It has no `Debug`: a URL may hold a password.
pub type Urls = BTreeMap<&'static str, String>;

/// The reader of the stores.
pub struct LedgerReader {
    ledgers: BTreeMap<&'static str, Arc<dyn Ledger>>,
    /// Lets [`READINGS_AT_ONCE`] readings of a sale through.
    turns: Semaphore,
}

/// The longest time for one reading: a locked store does not answer at all.
pub(crate) const READ_WITHIN: Duration = Duration::from_secs(5);

/// The most readings of a sale at one time. The buyers of many items ask for theirs together, and on a busy machine a
/// hundred at once would each take longer than [`READ_WITHIN`]. That time counts from the reading's turn.
pub(crate) const READINGS_AT_ONCE: usize = 16;

/// The most characters of an error that are shown.
const MAX_ERROR: usize = 300;

/// The longest time for which the stores may change after the last response.
const SETTLE_WITHIN: Duration = Duration::from_secs(2);

/// The most other items whose orders are read: a store may hold those of many years.
const MOST_OTHER_ITEMS: usize = 1_000;

/// The most orders that are read of each of them.
const MOST_OTHER_ORDERS: usize = 1_000;

/// The pause between two readings. Two equal readings in a row mean that the stores are at rest.
const READ_EVERY: Duration = Duration::from_millis(100);

impl LedgerReader {
    /// Connects to all stores.
    ///
    /// # Errors
    /// When one cannot be reached.
    pub async fn connect(urls: &Urls) -> Result<Self> {
        let mut ledgers = BTreeMap::new();
        for (store, url) in urls {
            let ledger = ledger(store, url).with_context(|| format!("the URL of the store {store}"))?;
            ledgers.insert(*store, ledger);
        }
        let reader = Self {
            ledgers,
            turns: Semaphore::new(READINGS_AT_ONCE),
        };
        reader.versions().await?;
        Ok(reader)
    }

    /// Reads a sale, with at most `limit` of its orders. Waits for a store that is being restarted.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn read(&self, stores: StorePair, item: &str, limit: usize) -> Result<Facts> {
        let deadline = Instant::now() + BACK_WITHIN;
        loop {
            let facts = self.read_once(stores, item, limit).await;
            if facts.is_ok() || Instant::now() >= deadline {
                return facts;
            }
            sleep(READ_EVERY).await;
        }
    }

    /// Reads a sale once, without waiting.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn read_once(&self, stores: StorePair, item: &str, limit: usize) -> Result<Facts> {
        // Nothing closes the semaphore.
        let _turn = self.turns.acquire().await;
        let facts = match (self.ledger(stores.stock), self.ledger(stores.orders)) {
            (Ok(stock), Ok(orders)) => reader_thread::read(read_both(stock, orders, item.to_owned(), limit)).await,
            (Err(missing), _) | (_, Err(missing)) => Err(missing),
        };
        // The server's own text comes last, and is not trusted either.
        let why = |error: anyhow::Error| one_line(&format!("{error:#}"), MAX_ERROR);
        facts.map_err(|error| anyhow!("the ledger of {item} in {stores} cannot be read: {}", why(error)))
    }

    /// Reads until two readings agree: a purchase whose buyer gave up may still be writing.
    ///
    /// # Errors
    /// As [`LedgerReader::read`].
    pub async fn settled(&self, stores: StorePair, item: &str, limit: usize) -> Result<Facts> {
        let deadline = Instant::now() + SETTLE_WITHIN;
        let mut last = self.read(stores, item, limit).await?;
        loop {
            sleep(READ_EVERY).await;
            let now = self.read(stores, item, limit).await?;
            if now == last || Instant::now() >= deadline {
                return Ok(now);
            }
            last = now;
        }
    }

    /// Returns the names of all stores.
    pub fn stores(&self) -> impl Iterator<Item = &'static str> {
        self.ledgers.keys().copied()
    }

    /// Reads the orders of other items than these in that store.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn elsewhere(&self, store: &str, items: &HashSet<&str>) -> Result<Vec<Order>> {
        let read = timeout(READ_WITHIN, self.ledger(store)?.elsewhere(items)).await;
        read.context("no answer").flatten()
    }

    /// Returns the version of each store.
    ///
    /// # Errors
    /// When one does not answer.
    pub async fn versions(&self) -> Result<BTreeMap<&'static str, String>> {
        let mut versions = BTreeMap::new();
        for (store, ledger) in &self.ledgers {
            let version = timeout(READ_WITHIN, ledger.version()).await;
            let version = version.context("no answer").flatten();
            let version = version.with_context(|| format!("the witness cannot read the store {store}"))?;
            versions.insert(*store, one_line(&version, MAX_NAME));
        }
        Ok(versions)
    }

    /// Lets each store check its own data. Data that a store itself has damaged is no fault of a shop.
    ///
    /// # Errors
    /// [`Damaged`] when a check fails; others when a store does not answer.
    pub async fn check(&self) -> Result<()> {
        for (store, ledger) in &self.ledgers {
            let check = timeout(READ_WITHIN, ledger.check()).await;
            let check = check.context("no answer").flatten();
            check.with_context(|| format!("the store {store} did not pass its own check"))?;
        }
        Ok(())
    }

    fn ledger(&self, store: &str) -> Result<Arc<dyn Ledger>> {
        let ledger = self.ledgers.get(store);
        ledger.cloned().with_context(|| format!("the store {store} has no URL"))
    }
}

/// Reads a sale from the store of its stock and the store of its orders, which may be the same.
async fn read_both(stock: Arc<dyn Ledger>, orders: Arc<dyn Ledger>, item: String, limit: usize) -> Result<Facts> {
    let read = async {
        if Arc::ptr_eq(&stock, &orders) {
            return stock.read(&item, limit).await;
        }
        let (stock, orders) = tokio::try_join!(stock.read(&item, limit), orders.read(&item, limit))?;
        Ok(Facts {
            stock_left: stock.stock_left,
            ..orders
        })
    };
    let late = || format!("no answer within {READ_WITHIN:?}: is the store, a table or a row locked?");
    timeout(READ_WITHIN, read).await.with_context(late).flatten()
}
