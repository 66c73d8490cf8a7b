//! Stock and orders in a database that speaks SQL: tables `store`, `stock_units` and `orders`, see `sql/schema.sql` for MariaDB and
//! `sql/pg_schema.sql` for PostgreSQL.

mod client;
mod connections;
mod databases;
mod engine;
mod error;
mod link;
mod many;
mod named_lock;
mod pool;
mod statement;
mod steps;
mod transaction;
pub mod xa;

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::OnceCell;

pub use self::connections::Connection;
pub use self::databases::{Databases, READ_LEFT, TAKE};
pub use self::engine::{Engine, Isolation};
pub use self::error::is_check_violation;
pub use self::named_lock::{GET_LOCK, RELEASE_LOCK};
use self::pool::Connections;
pub use self::statement::{Column, Row, Statement, Value, query};
pub use self::steps::{BEGIN, COMMIT, CONNECT, FIND, ISOLATE, READ, RECORD, ROLLBACK, WRITE, rows, taken, wrote};
use super::{Connect, Fencing, Ledger, Stock, StockRead, Store, Written, in_words};
use crate::domain::{Error, Fence, Name, Order, Purchase};
use crate::probe::{Probe, Step};

/// The connections of one instance to a database server.
pub struct Sql {
    connections: Connections,
    instance: Name,
    /// Whether the tables are there and as the shop expects them.
    is_laid: Arc<OnceCell<()>>,
}

impl Sql {
    /// Returns the same store over other connections, so that a task that keeps one for long does not take it from
    /// purchases.
    ///
    /// # Errors
    /// When they cannot be set up.
    pub fn with_connections_of_its_own(&self) -> Result<Self, Error> {
        Ok(Self {
            connections: pool::like(&self.connections, false)?,
            instance: self.instance.clone(),
            is_laid: self.is_laid.clone(),
        })
    }

    /// Returns the same store over other connections, with `innodb_snapshot_isolation`. On all other connections it is
    /// off, so that the setting cannot reach another strategy.
    ///
    /// # Errors
    /// When they cannot be set up. A MariaDB that does not know the setting refuses each of them later.
    pub fn with_snapshot_isolation(&self) -> Result<Self, Error> {
        Ok(Self {
            connections: pool::like(&self.connections, true)?,
            instance: self.instance.clone(),
            is_laid: self.is_laid.clone(),
        })
    }

    /// Returns the kind of its server.
    pub fn engine(&self) -> Engine {
        self.connections.manager().engine()
    }

    /// Takes a connection for the purchase of `probe`.
    ///
    /// # Errors
    /// When there is no connection: nothing was sent then.
    pub async fn connected(&self, probe: &Probe) -> Result<Connection, Error> {
        let open = self.connection();
        probe
            .step(&CONNECT, &self.engine().server(), open, |sql| sql.origin().word())
            .await
    }

    /// Makes a store that connects at its first use, and then creates the tables, or brings those of an older program up to date.
    ///
    /// # Errors
    /// When the URL cannot be read.
    pub(super) fn at(engine: Engine, to: Connect<'_>) -> Result<Self, Error> {
        Ok(Self {
            connections: pool::open(engine, to.url, to.wait)?,
            instance: to.instance.clone(),
            is_laid: Arc::default(),
        })
    }

    /// Enters the order. Returns false when the ledger already holds it; then nothing was entered.
    ///
    /// # Errors
    /// When the database refuses for any other reason.
    pub async fn record(&self, purchase: &Purchase, probe: &Probe, sql: &mut Connection) -> Result<bool, Error> {
        let insert = query(
            "insert into orders (id, item, quantity, buyer, idempotency_key, instance) values (?, ?, ?, ?, ?, ?)",
        )
        .bind(purchase.order.to_string())
        .bind(purchase.item.as_str())
        .bind(purchase.quantity)
        .bind(purchase.buyer.as_str())
        .bind(purchase.key.as_ref().map(Name::as_str))
        .bind(self.instance.as_str());
        let entered = probe.step(&RECORD, &purchase.order, sql.execute(insert), rows).await;
        match entered {
            Ok(_) => Ok(true),
            Err(Error::Duplicate) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Finds the order that this purchase made before.
    ///
    /// # Errors
    /// When the database does not answer.
    pub async fn find(&self, purchase: &Purchase, probe: &Probe, sql: &mut Connection) -> Result<Option<Order>, Error> {
        let order = purchase.order.to_string();
        let select = query("select quantity, buyer from orders where id = ?").bind(&order);
        let words = |row: &Option<Row>| if row.is_some() { "bought before" } else { "0 rows" };
        let row = probe.step(&FIND, &order, sql.fetch(select), words).await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(Order {
            quantity: row.try_get::<i64>(0)? as u32,
            buyer: row.try_get(1)?,
        }))
    }
}

/// MariaDB.
impl Store for Sql {
    const NAME: &'static str = Engine::MariaDb.store();
    const STEPS: &'static [Step] = &[CONNECT, READ, BEGIN, WRITE, RECORD, COMMIT, ROLLBACK];
    /// An asynchronous replica lacks the latest commits, and a log that is synced later does not have them all on disk.
    const LOSES_BY: &'static [&'static str] = &["sql-failover", "sql-power-loss-unsynced"];

    async fn connect(to: Connect<'_>) -> Result<Self, Error> {
        let sql = Self::at(Engine::MariaDb, to)?;
        sql.ping().await?;
        Ok(sql)
    }
}

#[async_trait]
impl Stock for Sql {
    async fn read(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<StockRead>, Error> {
        let mut sql = self.connected(probe).await?;
        let select = query(
            "select s.num, o.quantity, o.buyer, s.fence from store s left join orders o on o.id = ? where s.id = ?",
        )
        .bind(purchase.order.to_string())
        .bind(purchase.item.as_str());
        let row = probe
            .step(&READ, &purchase.item, sql.fetch(select), |row| match row {
                Some(row) => in_words(row.get(0), row.get::<Option<i64>>(1).is_some()),
                None => in_words(None, false),
            })
            .await?;
        let Some(row) = row else { return Ok(None) };
        let order = match (row.try_get::<Option<i64>>(1)?, row.try_get(2)?) {
            (Some(quantity), Some(buyer)) => Some(Order {
                quantity: quantity as u32,
                buyer,
            }),
            _ => None,
        };
        Ok(Some(StockRead {
            left: row.try_get(0)?,
            order,
            fence: Fence(row.unsigned(3)?),
        }))
    }

    async fn write(
        &self,
        purchase: &Purchase,
        left: i64,
        fencing: Option<Fencing>,
        probe: &Probe,
    ) -> Result<Written, Error> {
        let mut sql = self.begun(purchase, probe).await?;
        let item = purchase.item.as_str();
        let update = match fencing {
            None => query("update store set num = ? where id = ?").bind(left).bind(item),
            Some(Fencing { mine, seen }) => {
                query("update store set num = ?, fence = ? where id = ? and fence = ? and fence < ?")
                    .bind(left)
                    .bind(mine.0)
                    .bind(item)
                    .bind(seen.0)
                    .bind(mine.0)
            }
        };
        let found = probe
            .step(&WRITE, &purchase.item, sql.execute(update), |found| wrote(*found, left))
            .await?;
        if found == 0 {
            self.roll_back(purchase, probe, &mut sql).await?;
            drop(sql);
            let is_open = fencing.is_some() && self.read(purchase, probe).await?.is_some();
            return Ok(if is_open { Written::Fenced } else { Written::Closed });
        }
        if !self.record(purchase, probe, &mut sql).await? {
            self.roll_back(purchase, probe, &mut sql).await?;
            return Ok(Written::Repeated);
        }
        self.commit(purchase, probe, &mut sql).await?;
        Ok(Written::Written)
    }

    async fn open(&self, item: &Name, stock: i64) -> Result<(), Error> {
        self.operate(|| {
            [
                query("replace into store (id, num, opened) values (?, ?, ?)")
                    .on_postgres(
                        "insert into store (id, num, opened) values (?, ?, ?) on conflict (id) \
                         do update set num = excluded.num, opened = excluded.opened, fence = 0, version = 0, \
                         lowest = null",
                    )
                    .bind(item.as_str())
                    .bind(stock)
                    .bind(stock),
                query("delete from stock_units where item = ?").bind(item.as_str()),
                query("delete from orders where item = ?").bind(item.as_str()),
            ]
        })
        .await
    }

    async fn open_if_absent(&self, item: &Name, stock: i64) -> Result<(), Error> {
        let insert = query("insert ignore into store (id, num, opened) values (?, ?, ?)")
            .on_postgres("insert into store (id, num, opened) values (?, ?, ?) on conflict do nothing");
        self.operate(|| [insert.clone().bind(item.as_str()).bind(stock).bind(stock)])
            .await
    }

    async fn close(&self, item: &Name) -> Result<(), Error> {
        self.operate(|| {
            [
                query("delete from store where id = ?").bind(item.as_str()),
                query("delete from stock_units where item = ?").bind(item.as_str()),
                query("delete from orders where item = ?").bind(item.as_str()),
            ]
        })
        .await
    }

    async fn look(&self, item: &Name) -> Result<Option<Ledger>, Error> {
        let select = query(
            "select s.num + (select count(*) from stock_units u where u.item = s.id), s.opened, count(o.id), \
             cast(coalesce(sum(o.quantity), 0) as signed) \
             from store s left join orders o on o.item = s.id where s.id = ? group by s.id",
        )
        .on_postgres(
            "select s.num + (select count(*) from stock_units u where u.item = s.id), s.opened, count(o.id), \
             cast(coalesce(sum(o.quantity), 0) as bigint) \
             from store s left join orders o on o.item = s.id where s.id = ? group by s.id",
        );
        let row = self.lend().await?.fetch(select.bind(item.as_str())).await?;
        let Some(row) = row else { return Ok(None) };
        let (left, units): (i64, i64) = (row.try_get(0)?, row.try_get(3)?);
        Ok(Some(Ledger {
            // In a sale that an older program opened, the column is null.
            opened: row.try_get::<Option<i64>>(1)?.unwrap_or(left + units),
            left,
            orders: row.try_get(2)?,
            units,
        }))
    }

    async fn other_sales(&self, item: &Name) -> Result<i64, Error> {
        let count = query("select count(*) from store where id <> ?").bind(item.as_str());
        let row = self.lend().await?.fetch(count).await?;
        Ok(row.map_or(Ok(0), |row| row.try_get(0))?)
    }

    async fn ping(&self) -> Result<(), Error> {
        self.lend().await?.ping().await
    }
}
