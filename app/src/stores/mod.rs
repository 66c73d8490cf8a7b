//! Where stock and orders live: a counter for each item, and beside it the ledger of its orders.

pub mod redis;
pub mod sql;

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;

pub use self::redis::Redis;
pub use self::sql::Sql;
use crate::domain::{Error, Fence, Name, Order, Purchase};
use crate::probe::{Probe, Step};
use crate::services::{Missing, Services};

/// Every store that there is code for.
pub const ALL: &[StoreEntry] = &[StoreEntry::of::<Redis>(), StoreEntry::of::<Sql>()];

/// The service that is a second MariaDB server: what is sold from two has its orders there.
pub const SECOND_SQL: &str = "sql-2";

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
    /// The highest fence that has written; 0 where none has.
    pub fence: Fence,
}

/// What a write carries whose lock gives out fences.
#[derive(Clone, Copy, Debug)]
pub struct Fencing {
    /// The fence of the lock that is held.
    pub mine: Fence,
    /// The highest one that had written when the stock was read.
    pub seen: Fence,
}

/// A sale as an operator sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ledger {
    /// Units it was opened with.
    pub opened: i64,
    /// Units left, by the counter.
    pub left: i64,
    /// Orders in the ledger.
    pub orders: i64,
    /// Units of all orders together.
    pub units: i64,
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
    /// Another holder has written meanwhile. Nothing was written.
    Fenced,
}

/// A counter and its ledger, in the three movements of a sale that is guarded from outside.
#[async_trait]
pub trait Stock: Any + Send + Sync {
    /// What is left, and whether this purchase was made before. `None` when no such sale is open.
    async fn read(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<StockRead>, Error>;

    /// Sets the counter to `left`, whatever it is now, and enters the order: both or neither. With a fence, only if none
    /// as high has written, and none at all since the stock was read: a lower one may have come in between, late, and after a
    /// failover one may be given out twice. Without a fence Redis can tell neither a repeat nor a closed sale: it writes.
    async fn write(
        &self,
        purchase: &Purchase,
        left: i64,
        fencing: Option<Fencing>,
        probe: &Probe,
    ) -> Result<Written, Error>;

    /// Opens a sale with `stock` units and an empty ledger, forgetting what was there.
    async fn open(&self, item: &Name, stock: i64) -> Result<(), Error>;

    /// Opens a sale unless one is open already.
    async fn open_if_absent(&self, item: &Name, stock: i64) -> Result<(), Error>;

    /// Forgets a sale and its ledger.
    async fn close(&self, item: &Name) -> Result<(), Error>;

    /// Counter and ledger of a sale; `None` when it is not open.
    async fn look(&self, item: &Name) -> Result<Option<Ledger>, Error>;

    /// How many sales are open besides that of `item`, where the store can say so at once.
    async fn other_sales(&self, _item: &Name) -> Result<i64, Error> {
        Ok(0)
    }

    /// Whether the store answers.
    async fn ping(&self) -> Result<(), Error>;
}

/// What an instance tells a store when it connects.
pub struct Connect<'a> {
    /// Where the store is. May hold a password.
    pub url: &'a str,
    /// The instance's name, written into each order.
    pub instance: &'a Name,
    /// How long a purchase waits for a row or a connection.
    pub wait: Duration,
}

/// A kind of store.
pub trait Store: Stock + Sized {
    /// Its name: the second half of a strategy's name, and the service that it is.
    const NAME: &'static str;

    /// The steps that [`Stock::read`] and [`Stock::write`] take.
    const STEPS: &'static [Step];

    /// The threats that take from it what it has: no mechanism that sells from it survives them.
    const LOSES_BY: &'static [&'static str];

    /// Connects, and brings what it finds there up to date.
    ///
    /// # Errors
    /// When the URL cannot be read or the store cannot be reached.
    fn connect(to: Connect<'_>) -> impl Future<Output = Result<Self, Error>> + Send;
}

/// A kind of store as data, before it is connected to.
pub struct StoreEntry {
    /// [`Store::NAME`]
    pub name: &'static str,
    /// [`Store::STEPS`]
    pub steps: &'static [Step],
    /// [`Store::LOSES_BY`]
    pub loses_by: &'static [&'static str],
    connect: for<'a> fn(Connect<'a>) -> Connecting<'a>,
}

/// A store that is being connected to.
type Connecting<'a> = BoxFuture<'a, Result<Arc<dyn Stock>, Error>>;

impl StoreEntry {
    const fn of<S: Store>() -> Self {
        Self {
            name: S::NAME,
            steps: S::STEPS,
            loses_by: S::LOSES_BY,
            connect: |to| Box::pin(async { Ok(Arc::new(S::connect(to).await?) as Arc<dyn Stock>) }),
        }
    }
}

/// The stores of one instance, by name.
pub struct Stores(Vec<(&'static str, Arc<dyn Stock>)>);

impl Stores {
    /// Connects to every store that `services` has a URL of.
    ///
    /// # Errors
    /// When a URL cannot be read or a store cannot be reached.
    pub async fn connect(services: &Services, instance: &Name, wait: Duration) -> Result<Self, Error> {
        let mut stores = Vec::new();
        for entry in ALL {
            if let Ok(url) = services.url(entry.name) {
                stores.push((entry.name, (entry.connect)(Connect { url, instance, wait }).await?));
            }
        }
        Ok(Self(stores))
    }

    /// All of them, by name.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Arc<dyn Stock>)> {
        self.0.iter().map(|(name, stock)| (*name, stock))
    }

    /// A store by its name, as what all stores have in common.
    ///
    /// # Errors
    /// When it is not there.
    pub fn find(&self, name: &str) -> Result<Arc<dyn Stock>, Missing> {
        let found = self.all().find(|(known, _)| *known == name);
        found.map(|(_, stock)| stock.clone()).ok_or_else(|| Missing {
            service: name.to_owned(),
        })
    }

    /// A store, as what it is.
    ///
    /// # Errors
    /// When it is not there.
    pub fn get<S: Store>(&self) -> Result<Arc<S>, Missing> {
        let stock: Arc<dyn Any + Send + Sync> = self.find(S::NAME)?;
        // The list gives each name to one kind.
        stock.downcast().map_err(|_| Missing {
            service: S::NAME.to_owned(),
        })
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
