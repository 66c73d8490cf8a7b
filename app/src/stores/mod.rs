//! The stores of stock and orders: a counter for each item, and the ledger of its orders.

mod cluster;
mod pg;
pub mod redis;
pub mod sql;

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;

pub use self::redis::Redis;
use self::sql::Engine;
pub use self::sql::Sql;
use crate::domain::{Error, Fence, Name, Order, Purchase};
use crate::probe::{Probe, Step, StepResult, StepValue};
use crate::services::{Missing, Services};

/// Every kind of store.
pub const ALL: &[StoreEntry] = &[
    StoreEntry::of::<Redis>(),
    StoreEntry::of::<Sql>(),
    pg::ENTRY,
    cluster::ENTRY,
];

/// The name of the Redis Cluster.
pub const CLUSTER: &str = cluster::NAME;

/// The service name of the second MariaDB server. A strategy that sells from two servers has its orders there.
pub const SECOND_SQL: &str = "sql-2";

/// Returns the service in which a lock lies that needs `need`, beside a sale in `store`: a lock in a database lies in that of
/// the sale where it is one, and a lock in Redis in the cluster of the sale.
pub fn lock_service(need: &'static str, store: &'static str) -> &'static str {
    let (sql, pg) = (Engine::MariaDb.store(), Engine::Postgres.store());
    let is_in = |name| store.split('+').any(|own| own == name);
    match need {
        Redis::NAME if is_in(cluster::NAME) => cluster::NAME,
        need if need == sql && store == pg => pg,
        _ => need,
    }
}

/// The longest time for a store to answer one command. Later the outcome counts as unknown.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// The longest time for a store to accept a connection.
const CONNECT_WITHIN: Duration = Duration::from_secs(1);

/// The connections of an instance to each store. More than 2 cores can use, few enough for a small server.
const POOL_SIZE: usize = 16;

/// The longest time that a connection may be unused before it is tested with a ping. A busy store gets no pings, so a
/// purchase costs only the round trips of its strategy.
const UNTESTED_FOR: Duration = Duration::from_secs(1);

/// The origin of a connection that was lent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Just opened.
    New,
    /// Open for longer, and tested by a ping.
    Tested,
    /// Open for longer, and used shortly before.
    Kept,
}

impl Origin {
    /// Returns the origin in one word, for observers.
    pub fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Tested => "tested",
            Self::Kept => "kept",
        }
    }
}

/// The most sales that may be open at once: it bounds the data in the stores.
pub const MAX_SALES: i64 = 10_000;

/// The stock as a purchase reads it.
#[derive(Clone, Debug)]
pub struct StockRead {
    /// The units left.
    pub left: i64,
    /// The order that this purchase's idempotency key made before.
    pub order: Option<Order>,
    /// The highest fence that has written; 0 where none has.
    pub fence: Fence,
}

/// The fences of a write, for a lock that issues fences.
#[derive(Clone, Copy, Debug)]
pub struct Fencing {
    /// The fence of the lock that is held.
    pub mine: Fence,
    /// The highest fence that had written when the stock was read.
    pub seen: Fence,
}

/// A sale as an operator sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ledger {
    /// The units that the sale was opened with.
    pub opened: i64,
    /// The units left, by the counter.
    pub left: i64,
    /// The number of orders in the ledger.
    pub orders: i64,
    /// The units of all orders together.
    pub units: i64,
}

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// Counter and order are in the store.
    Written,
    /// The ledger holds this order already. Nothing was written.
    Repeated,
    /// The sale is closed. Nothing was written.
    Closed,
    /// Another holder has written since the read. Nothing was written.
    Fenced,
}

/// A counter and its ledger, with the read and write of a sale that a guard protects.
#[async_trait]
pub trait Stock: Any + Send + Sync {
    /// Reads the stock that is left, and whether this purchase was made before. `None` when no sale of the item is
    /// open.
    async fn read(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<StockRead>, Error>;

    /// Sets the counter to `left`, whatever its value is now, and enters the order: both or neither. With a fence it
    /// writes only if its fence is higher than every one that has written, and no fence has written since the read: a
    /// lower fence may have written late, in between, and after a failover a fence may be issued twice. Without a fence
    /// Redis checks neither for a repeated order nor for a closed sale: it writes.
    async fn write(
        &self,
        purchase: &Purchase,
        left: i64,
        fencing: Option<Fencing>,
        probe: &Probe,
    ) -> Result<Written, Error>;

    /// Opens a sale with `stock` units and an empty ledger. An earlier sale of the item is deleted.
    async fn open(&self, item: &Name, stock: i64) -> Result<(), Error>;

    /// Opens a sale unless one is open already.
    async fn open_if_absent(&self, item: &Name, stock: i64) -> Result<(), Error>;

    /// Deletes a sale and its ledger.
    async fn close(&self, item: &Name) -> Result<(), Error>;

    /// Returns counter and ledger of a sale; `None` when it is not open.
    async fn look(&self, item: &Name) -> Result<Option<Ledger>, Error>;

    /// Returns the number of open sales other than that of `item`; 0 where the store cannot count them quickly.
    async fn other_sales(&self, _item: &Name) -> Result<i64, Error> {
        Ok(0)
    }

    /// Checks that the store answers.
    async fn ping(&self) -> Result<(), Error>;
}

/// The settings of a connection to a store.
pub struct Connect<'a> {
    /// The URL of the store. It may hold a password.
    pub url: &'a str,
    /// The URLs of the other nodes of a cluster; none for one server.
    pub others: &'a [String],
    /// The instance's name, written into each order.
    pub instance: &'a Name,
    /// The longest wait of a purchase for a row or a connection.
    pub wait: Duration,
}

/// A kind of store.
pub trait Store: Stock + Sized {
    /// Its name: the second half of a strategy's name, and the name of its service.
    const NAME: &'static str;

    /// The steps that [`Stock::read`] and [`Stock::write`] take.
    const STEPS: &'static [Step];

    /// The threats by which the store loses data: no mechanism that sells from it survives them.
    const LOSES_BY: &'static [&'static str];

    /// Connects, and brings existing tables up to date.
    ///
    /// # Errors
    /// When the URL cannot be read or the store cannot be reached.
    fn connect(to: Connect<'_>) -> impl Future<Output = Result<Self, Error>> + Send;
}

/// A kind of store as data, not connected yet.
pub struct StoreEntry {
    /// [`Store::NAME`]
    pub name: &'static str,
    /// [`Store::STEPS`]
    pub steps: &'static [Step],
    /// [`Store::LOSES_BY`]
    pub loses_by: &'static [&'static str],
    /// Whether an instance opens, is ready and holds sales without it: only some strategies need it.
    pub is_optional: bool,
    connect: for<'a> fn(Connect<'a>) -> Connecting<'a>,
}

/// A connection attempt.
type Connecting<'a> = BoxFuture<'a, Result<Arc<dyn Stock>, Error>>;

impl StoreEntry {
    const fn of<S: Store>() -> Self {
        Self {
            name: S::NAME,
            steps: S::STEPS,
            loses_by: S::LOSES_BY,
            is_optional: false,
            connect: |to| Box::pin(async { Ok(Arc::new(S::connect(to).await?) as Arc<dyn Stock>) }),
        }
    }
}

/// The stores of one instance, by name.
pub struct Stores(Vec<(&'static StoreEntry, Arc<dyn Stock>)>);

impl Stores {
    /// Connects to every store that `services` has a URL for.
    ///
    /// # Errors
    /// When a URL cannot be read or a store cannot be reached.
    pub async fn connect(services: &Services, instance: &Name, wait: Duration) -> Result<Self, Error> {
        let mut stores = Vec::new();
        for entry in ALL {
            if let Ok([url, others @ ..]) = services.urls(entry.name) {
                let to = Connect {
                    url,
                    others,
                    instance,
                    wait,
                };
                stores.push((entry, (entry.connect)(to).await?));
            }
        }
        Ok(Self(stores))
    }

    /// Returns all stores, by name.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, &Arc<dyn Stock>)> {
        self.0.iter().map(|(entry, stock)| (entry.name, stock))
    }

    /// Returns the stores that are not optional, by name.
    pub fn required(&self) -> impl Iterator<Item = (&'static str, &Arc<dyn Stock>)> {
        let required = self.0.iter().filter(|(entry, _)| !entry.is_optional);
        required.map(|(entry, stock)| (entry.name, stock))
    }

    /// Returns the optional stores, by name.
    pub fn optional(&self) -> impl Iterator<Item = (&'static str, &Arc<dyn Stock>)> {
        let optional = self.0.iter().filter(|(entry, _)| entry.is_optional);
        optional.map(|(entry, stock)| (entry.name, stock))
    }

    /// Returns a store by its name.
    ///
    /// # Errors
    /// When the store is not connected.
    pub fn find(&self, name: &str) -> Result<Arc<dyn Stock>, Missing> {
        let found = self.all().find(|(known, _)| *known == name);
        found.map(|(_, stock)| stock.clone()).ok_or_else(|| Missing {
            service: name.to_owned(),
        })
    }

    /// Returns a store of that kind by its name: a database that speaks SQL, or one Redis or several.
    ///
    /// # Errors
    /// When it is not connected, or the store of that name is of another kind.
    pub fn named<S: Store>(&self, name: &str) -> Result<Arc<S>, Missing> {
        let stock: Arc<dyn Any + Send + Sync> = self.find(name)?;
        stock.downcast().map_err(|_| Missing {
            service: name.to_owned(),
        })
    }

    /// Returns a store as its own type.
    ///
    /// # Errors
    /// When the store is not connected.
    pub fn get<S: Store>(&self) -> Result<Arc<S>, Missing> {
        self.named(S::NAME)
    }
}

/// Describes a read of counter and ledger.
pub(crate) fn in_words(left: Option<i64>, bought: bool) -> StepResult {
    match (left.map(StepValue::Left), bought) {
        (None, _) => "no sale".into(),
        (Some(left), false) => left.into(),
        (Some(left), true) => left.with("bought before"),
    }
}
