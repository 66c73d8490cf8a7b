//! Where stock and orders live: a counter for each item, and beside it the ledger of its orders.

pub mod redis;
pub mod sql;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

pub use self::redis::Redis;
pub use self::sql::Sql;
use crate::probe::{Probe, Step};
use crate::sale::{Error, Fence, Name, Order, Purchase};

/// How long a store may take to answer one command before the outcome counts as unknown.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// How long a store may take to accept a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(1);

/// Connections an instance keeps to each store. More than 2 cores can use, few enough for a small server.
const POOL_SIZE: usize = 16;

/// How long a connection may lie unused before it is asked whether it still lives. While a store is busy no command is
/// spent on that, and a purchase costs what its strategy says.
const UNTESTED_FOR: Duration = Duration::from_secs(1);

/// Where a connection that was lent comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Just opened.
    New,
    /// Open for longer, and asked whether it still lives.
    Tested,
    /// Open for longer, and used just before.
    Kept,
}

impl Origin {
    /// In a word, for who looks.
    pub fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Tested => "tested",
            Self::Kept => "kept",
        }
    }
}

/// How many sales may be open at once: a bound on what the stores have to hold.
pub const MAX_SALES: i64 = 10_000;

/// What a purchase finds when it reads the stock.
#[derive(Clone, Debug)]
pub struct StockRead {
    /// Units left.
    pub left: i64,
    /// The order that this purchase's idempotency key made before.
    pub order: Option<Order>,
}

/// What became of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// Counter and order are in the store.
    Written,
    /// The ledger holds this order already. Nothing was written.
    Repeated,
    /// The sale was closed meanwhile. Nothing was written.
    Closed,
    /// A holder with a higher fence has written meanwhile. Nothing was written.
    Fenced,
}

/// A counter and its ledger, in the three movements of a sale that is guarded from outside.
#[async_trait]
pub trait Stock: Send + Sync {
    /// The store's name, the second half of a strategy's name.
    fn name(&self) -> &'static str;

    /// The steps that [`Stock::read`] and [`Stock::write`] take.
    fn steps(&self) -> &'static [Step];

    /// What is left, and whether this purchase was made before. `None` when no such sale is open.
    async fn read(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<StockRead>, Error>;

    /// Sets the counter to `left`, whatever it is now, and enters the order: both or neither. With a fence, only if no
    /// higher one has written. Without one Redis can tell neither a repeat nor a closed sale: it writes.
    async fn write(
        &self,
        purchase: &Purchase,
        left: i64,
        fence: Option<Fence>,
        probe: &Probe,
    ) -> Result<Written, Error>;

    /// Opens a sale with `stock` units and an empty ledger, forgetting what was there.
    async fn open(&self, item: &Name, stock: i64) -> Result<(), Error>;

    /// Opens a sale unless one is open already.
    async fn open_if_absent(&self, item: &Name, stock: i64) -> Result<(), Error>;

    /// Forgets a sale and its ledger.
    async fn close(&self, item: &Name) -> Result<(), Error>;

    /// Whether the store answers.
    async fn ping(&self) -> Result<(), Error>;
}

/// Both stores of one instance.
#[derive(Clone)]
pub struct Stores {
    /// Redis: also the home of the locks.
    pub redis: Arc<Redis>,
    /// MariaDB.
    pub sql: Arc<Sql>,
}

impl Stores {
    /// Connects to both and lays the tables. `instance` is written into each order; a wait for a row or a connection
    /// of MariaDB ends after `wait`, or after a second where `wait` is less.
    ///
    /// # Errors
    /// When a URL cannot be read or a store cannot be reached.
    pub async fn connect(redis_url: &str, sql_url: &str, instance: &Name, wait: Duration) -> Result<Self, Error> {
        Ok(Self {
            redis: Arc::new(Redis::connect(redis_url, instance, wait).await?),
            sql: Arc::new(Sql::connect(sql_url, instance, wait).await?),
        })
    }

    /// Both, as what they have in common.
    pub fn all(&self) -> [Arc<dyn Stock>; 2] {
        [self.redis.clone(), self.sql.clone()]
    }
}

/// A reading of counter and ledger, in a few words.
pub(crate) fn in_words(left: Option<i64>, bought: bool) -> String {
    match (left, bought) {
        (None, _) => "no sale".to_owned(),
        (Some(left), false) => format!("left {left}"),
        (Some(left), true) => format!("left {left}, bought before"),
    }
}
