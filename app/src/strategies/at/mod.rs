//! AT, as in Seata: each database commits at once under a global lock; an undo log keeps the old row for a rollback.
//!
//! ```text
//! A: global-lock; write, log-images, commit    -- 0 left, visible to all
//! A: (killed)
//!                     B: global-lock -> held by another: waits
//!                     reconciler: row still as A left it: restore-stock, end
//!                     B: global-lock -> taken, 1 left
//! ```
//!
//! No database waits for the other, and no transaction is in doubt. But a row that is read without the global lock may
//! still be rolled back. A write without the lock makes a rollback impossible: a row that differs from the after image
//! is left to an operator, and so is its lock. A branch that comes after its rollback finds its place in the undo log
//! taken. Cost: thirteen round trips.

mod ending;
mod transaction;
mod undo_log;

use std::sync::Arc;

use async_trait::async_trait;
use sqlx::query;
use tokio_util::task::AbortOnDropHandle;

use self::ending::{finish, roll_back};
use self::transaction::{DECIDE, Decided, END, GLOBAL_LOCK, MARK_DIRTY, OVERDUE, Transaction};
use self::undo_log::{DELETE_IMAGES, Images, LOG_IMAGES, READ_IMAGES, RESTORE_ORDERS, RESTORE_STOCK};
use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Name, Order, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::{Probe, Role, Step};
use crate::reconciler::{self, Pending, Reconciled};
use crate::stores::sql::{BEGIN, COMMIT, CONNECT, Connection, Databases, FIND, READ, RECORD, ROLLBACK, WRITE};
use crate::stores::{Sql, Stock, Store};
use crate::timeouts::{PAUSE, Timeouts};
use crate::world::World;

const BEFORE_IMAGE: Step = Step::command("before-image", &["select"]).plays(Role::Read);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "at",
        family: Family::DistributedTransaction,
        lesson: 11,
        summary: "Seata's AT: each database commits at once under a global lock; an undo log for a rollback",
        claims: AS_FAMILY,
        weak_at: "record",
        needs: &[],
        source: include_str!("mod.rs"),
    },
    store: "sql+sql",
    steps: &[
        CONNECT,
        GLOBAL_LOCK,
        BEGIN,
        BEFORE_IMAGE,
        WRITE,
        LOG_IMAGES,
        COMMIT,
        RECORD,
        DECIDE,
        DELETE_IMAGES,
        END,
        ROLLBACK,
        FIND,
        READ,
        PAUSE,
        OVERDUE,
        READ_IMAGES,
        RESTORE_ORDERS,
        RESTORE_STOCK,
        MARK_DIRTY,
    ],
    open: |world| Box::pin(async { opened(At::open(world).await?) }),
};

struct At {
    coordinator: Arc<Coordinator>,
    /// Stops when the strategy is dropped.
    _reconciler: AbortOnDropHandle<()>,
}

impl At {
    async fn open(world: &World) -> Result<Self, Error> {
        let databases = world.databases().await?;
        databases.stock.lay(transaction::TABLE).await?;
        databases.stock.lay(undo_log::TABLE).await?;
        databases.orders.lay(undo_log::TABLE).await?;
        let coordinator = Arc::new(Coordinator {
            reconcilers: databases.with_connections_of_their_own()?,
            databases,
            timeouts: world.timeouts,
            reconciled: Reconciled::default(),
        });
        Ok(Self {
            _reconciler: reconciler::start(world, coordinator.clone()),
            coordinator,
        })
    }
}

struct Coordinator {
    databases: Databases,
    reconcilers: Databases,
    timeouts: Timeouts,
    reconciled: Reconciled,
}

/// The result of an attempt.
enum Tried {
    /// Sold, and so many units are left.
    Sold(i64),
    /// Nothing was sold; the order of an earlier delivery, if there was one.
    Refused(Option<Order>),
}

/// The error of a purchase whose transaction was rolled back by a reconciler.
fn undone() -> Error {
    Error::given_up(Sql::NAME, &"a reconciler has rolled the transaction back")
}

impl Coordinator {
    /// Takes the global lock, and waits for it. `None` when it was not free in time.
    async fn lock(
        &self,
        purchase: &Purchase,
        probe: &Probe,
        sql: &mut Connection,
    ) -> Result<Option<Transaction>, Error> {
        let transaction = Transaction::of(purchase);
        let mut backoff = self.timeouts.backoff();
        while backoff.again(&purchase.item, probe).await {
            if transaction.lock(self.timeouts.lease, probe, sql).await? {
                return Ok(Some(transaction));
            }
        }
        Ok(None)
    }

    /// Commits the first branch and returns the units left; `None`, without a change, when there are too few.
    async fn take(
        &self,
        transaction: &Transaction,
        purchase: &Purchase,
        probe: &Probe,
        stock: &mut Connection,
    ) -> Result<Option<i64>, Error> {
        let store = &self.databases.stock;
        probe.step(&BEGIN, &purchase.item, stock.begin(), |()| "begun").await?;
        let select = query("select num from store where id = ? for update").bind(purchase.item.as_str());
        let before = store.left(&BEFORE_IMAGE, select, (purchase, probe), stock).await?;
        let before = before.unwrap_or(0);
        let after = before - i64::from(purchase.quantity);
        if after < 0 || !store.set(after, purchase, probe, stock).await? {
            return Ok(None);
        }
        if !Images::of_stock(before, after).log(transaction, probe, stock).await? {
            return Err(undone());
        }
        store.commit(purchase, probe, stock).await?;
        Ok(Some(after))
    }

    /// Commits the second branch; false, without a change, when the order exists.
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

    /// One try. The ledger is asked for an earlier order before the global lock is given back: one that is found without it may
    /// still be taken back, and so may the last unit. A purchase that lost the lock meanwhile does not know whether it was sold.
    async fn sell(&self, purchase: &Purchase, probe: &Probe) -> Result<Tried, Error> {
        // Takes both connections before the lock: a purchase that gets none must not keep the lock from others.
        let (mut stock, mut orders) = self.databases.connected(probe).await?;
        let Some(transaction) = self.lock(purchase, probe, &mut stock).await? else {
            return Err(Error::given_up(Sql::NAME, &"another transaction has the global lock"));
        };
        let remaining = match self.take(&transaction, purchase, probe, &mut stock).await {
            Ok(Some(remaining)) => remaining,
            nothing @ (Ok(None) | Err(Error::GivenUp { .. })) => {
                self.databases.stock.roll_back(purchase, probe, &mut stock).await?;
                let order = self.databases.orders.find(purchase, probe, &mut orders).await?;
                let had_the_lock = transaction.end(probe, &mut stock).await?;
                return nothing.and_then(|_| {
                    if had_the_lock {
                        Ok(Tried::Refused(order))
                    } else {
                        Err(undone())
                    }
                });
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
                roll_back(&transaction, probe, &mut stock, None).await?;
                return nothing.map(|_| Tried::Refused(order));
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
}

#[async_trait]
impl Strategy for At {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        probe.work().await;
        let stock = &self.coordinator.databases.stock;
        Ok(match self.coordinator.sell(purchase, probe).await? {
            Tried::Sold(remaining) => Outcome::Sold { remaining },
            Tried::Refused(Some(order)) => Outcome::Repeated(order),
            Tried::Refused(None) if stock.read(purchase, probe).await?.is_some() => Outcome::SoldOut,
            Tried::Refused(None) => Outcome::UnknownItem,
        })
    }

    /// An order stays if it exists and its images are deleted.
    async fn may_take_back(&self, purchase: &Purchase) -> Result<bool, Error> {
        let stays = query(
            "select count(*) from orders o where o.id = ? and not exists \
             (select 1 from undo_log u where u.item = o.item and json_value(u.after_image, '$.id') = o.id)",
        )
        .bind(purchase.order.to_string());
        Ok(self.coordinator.databases.orders.count(stays).await? == 0)
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        let Coordinator {
            databases, reconciled, ..
        } = &*self.coordinator;
        reconciled.forget(item);
        let images = || query("delete from undo_log where item = ?").bind(item.as_str());
        let transactions = || query("delete from at_transactions where item = ?").bind(item.as_str());
        databases.stock.operate(|| [transactions(), images()]).await?;
        databases.orders.operate(|| [images()]).await
    }

    async fn pending(&self, item: &Name) -> Result<Pending, Error> {
        let open = query("select count(*) from at_transactions where item = ?").bind(item.as_str());
        let open = self.coordinator.databases.stock.count(open).await?;
        Ok(self.coordinator.reconciled.of(item, open))
    }
}
