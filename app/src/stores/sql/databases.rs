//! A sale that lies in two MariaDB servers: what its mechanisms do in both, and what they say where nothing was sold.

use std::sync::Arc;

use sqlx::mysql::MySqlRow;
use sqlx::{Row, query};

use super::{Connection, Sql, rows};
use crate::domain::{Error, Outcome, Purchase};
use crate::probe::{Probe, Role, Step};
use crate::stores::{Stock, in_words};

/// Takes units if there are so many.
pub const TAKE: Step = Step::command("take", &["update"]).plays(Role::Write);
/// Reads how many are left behind it.
pub const READ_LEFT: Step = Step::command("read-left", &["select"]);

/// Two servers. Each has a counter of the item and a table of orders; the counter counts in one, the orders in the other.
pub struct Databases {
    /// Where the counter is.
    pub stock: Arc<Sql>,
    /// Where the orders are.
    pub orders: Arc<Sql>,
}

impl Databases {
    /// The same over other connections: purchases must not keep a reconciler from working.
    ///
    /// # Errors
    /// When they cannot be set up.
    pub fn with_connections_of_their_own(&self) -> Result<Self, Error> {
        Ok(Self {
            stock: Arc::new(self.stock.with_connections_of_its_own()?),
            orders: Arc::new(self.orders.with_connections_of_its_own()?),
        })
    }

    /// A connection to each. Everybody takes the one to the stock first, so that no two wait for each other's.
    ///
    /// # Errors
    /// When one is not to be had: nothing was sent then.
    pub async fn connected(&self, probe: &Probe) -> Result<(Connection, Connection), Error> {
        let stock = self.stock.connected(probe).await?;
        Ok((stock, self.orders.connected(probe).await?))
    }

    /// Takes the units in one statement, and says how many are left; `None` where there are not so many.
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
        let words = |row: &Option<MySqlRow>| in_words(row.as_ref().map(|row| row.get(0)), false);
        let row = probe
            .step(&READ_LEFT, &purchase.item, stock.fetch(select), words)
            .await?;
        Ok(row.map(|row| row.try_get(0)).transpose()?)
    }

    /// Why nothing was sold: asked after the fact, and off the path of a sale.
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
