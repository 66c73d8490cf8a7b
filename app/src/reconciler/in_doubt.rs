//! Prepared branches of XA transactions that their purchase has left: the input of a reconciler of two MariaDB servers.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use uuid::Uuid;

use super::BATCH;
use crate::domain::{Error, Name};
use crate::probe::Probe;
use crate::stores::sql::Databases;
use crate::stores::sql::xa::{Decision, Protocol, Xid};

/// Finds and ends the prepared branches of one protocol at both servers.
pub struct InDoubt {
    databases: Databases,
    protocol: Protocol,
    lease: Duration,
    /// The time at which this instance first saw each transaction. Its own clock is enough: no two clocks are compared.
    seen: Mutex<HashMap<Uuid, Instant>>,
}

/// A transaction that has been prepared for longer than a lease, at one server or at both.
pub struct Left {
    /// The name of its branches.
    pub xid: Xid,
    /// The time since this instance first saw it, in milliseconds.
    pub hung_ms: u64,
    at_stock: bool,
    at_orders: bool,
}

impl InDoubt {
    /// Creates it over `databases`, connections of the reconciler alone. A transaction that stays prepared for a
    /// `lease` counts as left.
    pub fn new(databases: Databases, protocol: Protocol, lease: Duration) -> Self {
        Self {
            databases,
            protocol,
            lease,
            seen: Mutex::default(),
        }
    }

    /// Returns transactions that were left, at most [`BATCH`].
    ///
    /// # Errors
    /// When a server does not answer.
    pub async fn overdue(&self, probe: &Probe) -> Result<Vec<Left>, Error> {
        let at_stock = self.databases.stock.recover(self.protocol, probe).await?;
        let at_orders = self.databases.orders.recover(self.protocol, probe).await?;
        let both = at_stock.iter().chain(&at_orders);
        let prepared: BTreeMap<Uuid, &Xid> = both.map(|xid| (xid.transaction, xid)).collect();
        let ages = self.ages(&prepared, probe.time().now());
        let left = prepared.into_values().zip(ages).filter(|(_, age)| *age >= self.lease);
        let left = left.map(|(xid, age)| Left {
            xid: xid.clone(),
            hung_ms: age.as_millis() as u64,
            at_stock: at_stock.contains(xid),
            at_orders: at_orders.contains(xid),
        });
        Ok(left.take(BATCH).collect())
    }

    /// Returns how long ago this instance first saw each prepared transaction, in the order of `prepared`. Forgets all
    /// others.
    fn ages(&self, prepared: &BTreeMap<Uuid, &Xid>, now: Instant) -> Vec<Duration> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.retain(|transaction, _| prepared.contains_key(transaction));
        let first = prepared
            .keys()
            .map(|transaction| *seen.entry(*transaction).or_insert(now));
        first.map(|first| now.duration_since(first)).collect()
    }

    /// Ends the prepared branches of a transaction, the stock last, as its purchase does. Returns whether this call
    /// ended it: another instance may have ended it, or its purchase may still hold the connection.
    ///
    /// # Errors
    /// When a server refuses or does not answer.
    pub async fn end(&self, left: &Left, decision: Decision, probe: &Probe) -> Result<bool, Error> {
        let Databases { stock, orders } = &self.databases;
        let mut ended = false;
        if left.at_orders {
            ended = orders.end_prepared(&left.xid, decision, probe).await?;
        }
        if left.at_stock {
            ended = stock.end_prepared(&left.xid, decision, probe).await?;
        }
        Ok(ended)
    }

    /// Returns the number of prepared transactions of an item, for an operator.
    ///
    /// # Errors
    /// When a server does not answer.
    pub async fn open(&self, item: &Name) -> Result<u64, Error> {
        let mut prepared = self.databases.stock.prepared(self.protocol).await?;
        prepared.extend(self.databases.orders.prepared(self.protocol).await?);
        prepared.retain(|xid| xid.item == *item);
        prepared.sort_by_key(|xid| xid.transaction);
        prepared.dedup();
        Ok(prepared.len() as u64)
    }
}
