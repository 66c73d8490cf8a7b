//! The first phase of a purchase: each branch changes its row, logs the images and commits.

use std::time::Duration;

use super::ending::{finish, roll_back};
use super::transaction::{Decided, Transaction};
use super::undo_log::Images;
use super::{BEFORE_IMAGE, Coordinator, Reading};
use crate::domain::{Error, Order, Purchase};
use crate::probe::Probe;
use crate::stores::sql::{BEGIN, Connection, query};
use crate::stores::{Sql, Store};
use crate::timeouts::PAUSE;

/// How often a transaction asks for the global lock, and its pause before the next time: the defaults of Seata
/// (`client.rm.lock.retry-times` and `retry-interval`).
const LOCK_TRIES: usize = 30;
const LOCK_PAUSE: Duration = Duration::from_millis(10);

/// The result of an attempt.
pub(super) enum Tried {
    /// Sold, and so many units are left.
    Sold(i64),
    /// Nothing was sold: an earlier delivery made this order.
    Repeated(Order),
    /// Nothing was sold: too few units are left.
    SoldOut,
    /// Nothing was sold: no sale of the item is open.
    Closed,
    /// Nothing was written: another transaction kept the global lock or the row for too long.
    LockConflict,
}

/// The result of the branch of the stock.
enum Taken {
    Units(i64),
    Nothing(Tried),
}

/// The error of a purchase whose transaction was rolled back by a reconciler.
fn undone() -> Error {
    Error::given_up(Sql::NAME, &"a reconciler has rolled the transaction back")
}

fn lock_conflict() -> Error {
    Error::given_up(Sql::NAME, &"another transaction has the global lock")
}

impl Coordinator {
    /// Makes one attempt.
    pub(super) async fn sell(&self, purchase: &Purchase, probe: &Probe) -> Result<Tried, Error> {
        // Takes all connections before any lock: a purchase that gets none must not keep a lock from others.
        let (mut stock, mut orders) = self.databases.connected(probe).await?;
        let mut locks = self.locks.connected(probe).await?;
        let transaction = Transaction::of(purchase);
        let taken = self
            .take(&transaction, purchase, probe, (&mut stock, &mut orders, &mut locks))
            .await;
        let remaining = match taken {
            Ok(Taken::Units(remaining)) => remaining,
            Ok(Taken::Nothing(tried)) => {
                self.databases.stock.roll_back(purchase, probe, &mut stock).await?;
                return Ok(tried);
            }
            Err(Error::GivenUp { .. }) => {
                self.databases.stock.roll_back(purchase, probe, &mut stock).await?;
                return Ok(Tried::LockConflict);
            }
            Err(unknown) => return Err(unknown),
        };
        match self.enter(&transaction, purchase, probe, &mut orders).await {
            Ok(true) => {}
            nothing @ (Ok(false) | Err(Error::GivenUp { .. })) => {
                self.databases.orders.roll_back(purchase, probe, &mut orders).await?;
                let order = self.databases.orders.find(purchase, probe, &mut orders).await?;
                if !transaction.decide(Decided::RollingBack, probe, &mut stock).await? {
                    return Err(undone());
                }
                if let Err(error) = roll_back(&transaction, probe, &mut stock, None).await {
                    tracing::warn!(%error, "left to the reconciler");
                }
                return nothing.and_then(|_| order.map(Tried::Repeated).ok_or_else(undone));
            }
            Err(unknown) => return Err(unknown),
        }
        if !transaction.decide(Decided::Committed, probe, &mut stock).await? {
            return Err(undone());
        }
        if let Err(error) = finish(&transaction, probe, &mut stock, &mut orders).await {
            tracing::warn!(%error, "left to the reconciler");
        }
        Ok(Tried::Sold(remaining))
    }

    /// Commits the branch of the stock. Otherwise nothing is changed, and its local transaction is still open.
    async fn take(
        &self,
        transaction: &Transaction,
        purchase: &Purchase,
        probe: &Probe,
        (stock, orders, locks): (&mut Connection, &mut Connection, &mut Connection),
    ) -> Result<Taken, Error> {
        let store = &self.databases.stock;
        let Some(before) = self.read(purchase, probe, stock, locks).await? else {
            return Ok(Taken::Nothing(Tried::Closed));
        };
        let after = before - i64::from(purchase.quantity);
        if after < 0 {
            let order = self.databases.orders.find(purchase, probe, orders).await?;
            return Ok(Taken::Nothing(order.map_or(Tried::SoldOut, Tried::Repeated)));
        }
        if !store.set(after, purchase, probe, stock).await? {
            return Ok(Taken::Nothing(Tried::Closed));
        }
        if !Images::of_stock(before, after).log(transaction, probe, stock).await? {
            return Err(undone());
        }
        self.lock(transaction, probe, locks).await?;
        store.commit(purchase, probe, stock).await?;
        Ok(Taken::Units(after))
    }

    /// Begins the local transaction, locks the row in it and returns the units left; `None` when the sale is closed. A
    /// read of globally committed units lets the row go while it waits for the global lock, as Seata's SELECT FOR
    /// UPDATE does.
    async fn read(
        &self,
        purchase: &Purchase,
        probe: &Probe,
        stock: &mut Connection,
        locks: &mut Connection,
    ) -> Result<Option<i64>, Error> {
        let store = &self.databases.stock;
        for _ in 0..LOCK_TRIES {
            probe.step(&BEGIN, &purchase.item, stock.begin(), |()| "begun").await?;
            let select = query("select num from store where id = ? for update").bind(purchase.item.as_str());
            let left = store.left(&BEFORE_IMAGE, select, (purchase, probe), stock).await?;
            if self.reading == Reading::Committed || Transaction::is_free(&purchase.item, probe, locks).await? {
                return Ok(left);
            }
            store.roll_back(purchase, probe, stock).await?;
            probe.pause(&PAUSE, &purchase.item, LOCK_PAUSE).await;
        }
        Err(lock_conflict())
    }

    /// Takes the global lock, while the local transaction keeps the row locked.
    async fn lock(&self, transaction: &Transaction, probe: &Probe, locks: &mut Connection) -> Result<(), Error> {
        for _ in 0..LOCK_TRIES {
            let locked = transaction
                .lock(self.mechanism, self.timeouts.lease, probe, locks)
                .await;
            // The lock may be taken nevertheless. It sells nothing, as the branch does not commit.
            if locked.map_err(|error| Error::given_up(Sql::NAME, &error))? {
                return Ok(());
            }
            probe.pause(&PAUSE, &transaction.item, LOCK_PAUSE).await;
        }
        Err(lock_conflict())
    }

    /// Commits the branch of the orders; false, without a change, when the order exists.
    async fn enter(
        &self,
        transaction: &Transaction,
        purchase: &Purchase,
        probe: &Probe,
        orders: &mut Connection,
    ) -> Result<bool, Error> {
        let store = &self.databases.orders;
        probe.step(&BEGIN, &purchase.item, orders.begin(), |()| "begun").await?;
        if !store.record(purchase, probe, orders).await? {
            return Ok(false);
        }
        if !Images::of_order(purchase).log(transaction, probe, orders).await? {
            return Err(undone());
        }
        store.commit(purchase, probe, orders).await?;
        Ok(true)
    }
}
