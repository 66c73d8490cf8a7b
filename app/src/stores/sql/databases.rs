//! A sale that lies in two MariaDB servers: what its mechanisms do in both, and what they say where nothing was sold.

use std::sync::Arc;

use super::{Connection, Sql};
use crate::probe::Probe;
use crate::sale::{Error, Outcome, Purchase};
use crate::stores::Stock;

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
