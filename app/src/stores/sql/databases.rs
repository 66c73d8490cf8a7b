//! A sale in two MariaDB servers: the steps that its mechanisms share, and the outcome of a purchase without a sale.

use std::sync::Arc;

use super::{Connection, Row, Sql, query, rows};
use crate::domain::{Error, Outcome, Purchase};
use crate::probe::{Data, Probe, Role, Step};
use crate::stores::{Stock, in_words};

/// Takes the units if enough are left.
pub const TAKE: Step = Step::command("take", &["update"])
    .writes(Data::STOCK)
    .plays(Role::Write);
/// Reads the units that are left after it.
pub const READ_LEFT: Step = Step::command("read-left", &["select"]).reads(Data::ALL);

/// Two servers. Each has a counter of the item and a table of orders. The counter of the one and the orders of the
/// other are used.
pub struct Databases {
    /// The server of the counter.
    pub stock: Arc<Sql>,
    /// The server of the orders.
    pub orders: Arc<Sql>,
}

impl Databases {
    /// Returns the same servers over other connections, so that purchases cannot block a reconciler.
    ///
    /// # Errors
    /// When the pools cannot be created.
    pub fn with_connections_of_their_own(&self) -> Result<Self, Error> {
        Ok(Self {
            stock: Arc::new(self.stock.with_connections_of_its_own()?),
            orders: Arc::new(self.orders.with_connections_of_its_own()?),
        })
    }

    /// Takes a connection to each server. Every purchase takes the one to the stock first, so that no two purchases
    /// wait for each other.
    ///
    /// # Errors
    /// When there is no connection: nothing was sent then.
    pub async fn connected(&self, probe: &Probe) -> Result<(Connection, Connection), Error> {
        let stock = self.stock.connected(probe).await?;
        Ok((stock, self.orders.connected(probe).await?))
    }

    /// Takes the units in one statement, and returns the units that are left; `None` when fewer are left than were
    /// asked for.
    ///
    /// # Errors
    /// When MariaDB refuses, or gives the transaction up.
    pub async fn take(purchase: &Purchase, probe: &Probe, stock: &mut Connection) -> Result<Option<i64>, Error> {
        let update = query("update store set num = num - ? where id = ? and num >= ?")
            .bind(purchase.quantity)
            .bind(purchase.item.as_str())
            .bind(purchase.quantity);
        if probe.step(&TAKE, &purchase.item, stock.execute(update), rows).await? == 0 {
            return Ok(None);
        }
        let select = query("select num from store where id = ?").bind(purchase.item.as_str());
        let words = |row: &Option<Row>| in_words(row.as_ref().map(|row| row.get(0)), false);
        let row = probe
            .step(&READ_LEFT, &purchase.item, stock.fetch(select), words)
            .await?;
        Ok(row.map(|row| row.try_get(0)).transpose()?)
    }

    /// Finds out why nothing was sold. It reads after the fact, so it costs a sale nothing.
    ///
    /// # Errors
    /// When a server does not answer.
    pub async fn refusal(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        let order = {
            let mut sql = self.orders.connected(probe).await?;
            self.orders.find(purchase, probe, &mut sql).await?
        };
        Ok(match (order, self.stock.read(purchase, probe).await?) {
            (Some(order), _) => Outcome::Repeated(order),
            (None, Some(_)) => Outcome::SoldOut,
            (None, None) => Outcome::UnknownItem,
        })
    }
}
