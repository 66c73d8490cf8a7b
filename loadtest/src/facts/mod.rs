//! The other two ledgers, read straight from the stores by clients of our own: the orders recorded and the stock left.
//!
//! What a store holds was written by the shop on trial: it is bounded in bytes and in time, and what cannot be read is
//! a fact, not an error.

mod idle;
mod metered;
mod redis;
mod sql;
mod store_pair;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use async_trait::async_trait;
use tokio::time::{sleep, timeout};

pub use self::store_pair::StorePair;
use crate::http::BACK_WITHIN;
use crate::text::{MAX_NAME, one_line};

/// The one list: each store by its name, with the reader of its kind.
macro_rules! list {
    ($($store:literal => $file:ident::$ledger:ident,)*) => {
        /// The stores that can be read. Where a shop runs elsewhere, each has an option for its URL, named after it.
        pub const STORES: &[&str] = &[$($store,)*];

        /// The ledger of that store, at its URL.
        fn ledger(store: &str, url: &str) -> Result<Box<dyn Ledger>> {
            match store {
                $($store => Ok(Box::new($file::$ledger::new(url)?)),)*
                _ => Err(anyhow!("there is no reader for the store {store}")),
            }
        }
    };
}

list! {
    "redis" => redis::Redis,
    "sql" => sql::Sql,
    "sql-2" => sql::Sql,
}

/// How one kind of store is read.
#[async_trait]
trait Ledger: Send + Sync {
    /// Reads a sale, at most `limit` orders of it.
    async fn read(&self, item: &str, limit: usize) -> Result<Facts>;

    /// The version of the server.
    async fn version(&self) -> Result<String>;

    /// Whether the server finds what it keeps in order, as far as it can say so.
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
pub struct Observation {
    /// When it began: what was told before has to be in it.
    pub begun: Instant,
    /// Whether all purchases had been answered and the sale was over: everything has to agree then.
    pub at_rest: bool,
    /// What was seen.
    pub facts: Facts,
}

/// The stores' URLs, by the name of the store. It has no `Debug`: a URL may hold a password.
pub type Urls = BTreeMap<&'static str, String>;

/// The reader of the stores.
pub struct LedgerReader(BTreeMap<&'static str, Box<dyn Ledger>>);

/// How long one look may take: a store that is locked does not answer at all.
const READ_WITHIN: Duration = Duration::from_secs(5);

/// The most that is shown of an error, in characters.
const MAX_WORDS: usize = 300;

/// How long the stores may go on changing after the last answer.
const SETTLE_WITHIN: Duration = Duration::from_secs(2);

/// Two looks this far apart that agree are taken for rest.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

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
        let reader = Self(ledgers);
        reader.versions().await?;
        Ok(reader)
    }

    /// Reads a sale, at most `limit` orders of it. A store that is just being restarted is waited for.
    ///
    /// # Errors
    /// When the store does not answer.
    pub async fn read(&self, place: StorePair, item: &str, limit: usize) -> Result<Facts> {
        let deadline = Instant::now() + BACK_WITHIN;
        loop {
            let facts = self.read_once(place, item, limit).await;
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
    pub async fn read_once(&self, place: StorePair, item: &str, limit: usize) -> Result<Facts> {
        let read = async {
            let stock = self.ledger(place.stock)?.read(item, limit);
            if place.stock == place.orders {
                return stock.await;
            }
            let orders = self.ledger(place.orders)?.read(item, limit);
            let (stock, orders) = tokio::try_join!(stock, orders)?;
            Ok(Facts {
                stock_left: stock.stock_left,
                ..orders
            })
        };
        let late = || format!("no answer within {READ_WITHIN:?}: is the store, a table or a row locked?");
        let facts = timeout(READ_WITHIN, read).await.with_context(late).flatten();
        // A server's own words come last, and are not to be trusted either.
        let why = |error: anyhow::Error| one_line(&format!("{error:#}"), MAX_WORDS);
        facts.map_err(|error| anyhow!("the ledger of {item} in {place} cannot be read: {}", why(error)))
    }

    /// Reads until two looks agree: a purchase whose buyer gave up may still be writing.
    ///
    /// # Errors
    /// As [`LedgerReader::read`].
    pub async fn settled(&self, place: StorePair, item: &str, limit: usize) -> Result<Facts> {
        let deadline = Instant::now() + SETTLE_WITHIN;
        let mut last = self.read(place, item, limit).await?;
        loop {
            sleep(BETWEEN_LOOKS).await;
            let now = self.read(place, item, limit).await?;
            if now == last || Instant::now() >= deadline {
                return Ok(now);
            }
            last = now;
        }
    }

    /// The version of each store.
    ///
    /// # Errors
    /// When one does not answer.
    pub async fn versions(&self) -> Result<BTreeMap<&'static str, String>> {
        let mut versions = BTreeMap::new();
        for (store, ledger) in &self.0 {
            let version = timeout(READ_WITHIN, ledger.version()).await;
            let version = version.context("no answer").flatten();
            let version = version.with_context(|| format!("the witness cannot read the store {store}"))?;
            versions.insert(*store, one_line(&version, MAX_NAME));
        }
        Ok(versions)
    }

    /// Whether each store finds what it keeps in order. What a store itself has spoiled is no fault of a shop.
    ///
    /// # Errors
    /// When one does not, or does not answer.
    pub async fn check(&self) -> Result<()> {
        for (store, ledger) in &self.0 {
            let check = timeout(READ_WITHIN, ledger.check()).await;
            let check = check.context("no answer").flatten();
            check.with_context(|| format!("the store {store} did not pass its own check"))?;
        }
        Ok(())
    }

    fn ledger(&self, store: &str) -> Result<&dyn Ledger> {
        let ledger = self
            .0
            .get(store)
            .with_context(|| format!("the store {store} has no URL"))?;
        Ok(ledger.as_ref())
    }
}
