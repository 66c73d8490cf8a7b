//! Prepared branches of XA transactions that their purchase has left: what a reconciler of two MariaDB servers begins with.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use uuid::Uuid;

use super::BATCH;
use crate::domain::{Error, Name};
use crate::probe::Probe;
use crate::stores::sql::Databases;
use crate::stores::sql::xa::{Decision, Protocol, Xid};

/// The prepared branches of one protocol at both servers.
pub struct InDoubt {
    databases: Databases,
    protocol: Protocol,
    lease: Duration,
    /// When each transaction was first seen here: no clock is compared with another one.
    seen: Mutex<HashMap<Uuid, Instant>>,
}

/// A transaction that has been prepared for longer than a lease, at one server or at both.
pub struct Left {
    /// What its branches are called.
    pub xid: Xid,
    /// How long ago this instance saw it first, in milliseconds.
    pub hung_ms: u64,
    at_stock: bool,
    at_orders: bool,
}

impl InDoubt {
    /// `databases` are the reconciler's own. What is prepared for a `lease` was left.
    pub fn new(databases: Databases, protocol: Protocol, lease: Duration) -> Self {
        Self {
            databases,
            protocol,
            lease,
            seen: Mutex::default(),
        }
    }

    /// Some of those that were left.
    ///
    /// # Errors
    /// When a server does not answer.
    pub async fn overdue(&self, probe: &Probe) -> Result<Vec<Left>, Error> {
        let at_stock = self.databases.stock.recover(self.protocol, probe).await?;
        let at_orders = self.databases.orders.recover(self.protocol, probe).await?;
        let both = at_stock.iter().chain(&at_orders);
        let prepared: BTreeMap<Uuid, &Xid> = both.map(|xid| (xid.transaction, xid)).collect();
        let ages = self.ages(&prepared);
        let left = prepared.into_values().zip(ages).filter(|(_, age)| *age >= self.lease);
        let left = left.map(|(xid, age)| Left {
            xid: xid.clone(),
            hung_ms: age.as_millis() as u64,
            at_stock: at_stock.contains(xid),
            at_orders: at_orders.contains(xid),
        });
        Ok(left.take(BATCH).collect())
    }

    /// How long each of those that are prepared now has been seen here, in their order. All others are forgotten.
    fn ages(&self, prepared: &BTreeMap<Uuid, &Xid>) -> Vec<Duration> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.retain(|transaction, _| prepared.contains_key(transaction));
        let now = Instant::now();
        let first = prepared
            .keys()
            .map(|transaction| *seen.entry(*transaction).or_insert(now));
        first.map(|first| now.duration_since(first)).collect()
    }

    /// Ends what is prepared of a transaction, the stock last, as its purchase would have. Whether this was its end: it may be
    /// another instance's, or not come about while the purchase still has its connection.
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

    /// How many transactions of an item are prepared, for an operator.
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
