//! AT, as in Seata: each database commits at once, with a global lock; an undo log keeps the old row for a rollback.
//!
//! ```text
//! A: write, global-lock, commit    -- 1 of 2 left
//!                     B wants 2: before-image -> 1: told sold out, although A may be rolled back
//!                     C wants 1: write, global-lock -> held by A: keeps the row, tries again
//! A: record -> fails: restore-stock -> C has the row: both wait
//!                     C: after 30 tries of 10 ms: rollback; A goes on
//! ```
//!
//! The row is locked before the global lock is asked for. A read does not ask for it: `at-for-update` does. A row that
//! differs from the after image, by a write outside AT, is left to an operator, with its lock. Source: Seata; tutorial
//! 002 names it as GTS. Ours: a table in the database of the stock stands for Seata's server, the lock of the item
//! covers both branches, and after its refusal the purchase begins anew. A newer Seata refuses at once while the holder
//! rolls back. Cost: thirteen round trips.

mod ending;
mod first_phase;
mod transaction;
mod undo_log;

use std::sync::Arc;

use async_trait::async_trait;
use tokio_util::task::AbortOnDropHandle;

use self::first_phase::Tried;
use self::transaction::{DECIDE, END, GLOBAL_LOCK, MARK_DIRTY, OVERDUE};
use self::undo_log::{DELETE_IMAGES, LOG_IMAGES, READ_IMAGES, RESTORE_ORDERS, RESTORE_STOCK};
use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Name, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::{Probe, Role, Step};
use crate::reconciler::{self, Pending, Reconciled};
use crate::stores::Sql;
use crate::stores::sql::{BEGIN, COMMIT, CONNECT, Databases, FIND, RECORD, ROLLBACK, WRITE, query};
use crate::timeouts::{PAUSE, Timeouts};
use crate::world::World;

const NAME: &str = "at";

const BEFORE_IMAGE: Step = Step::command("before-image", &["select"]).plays(Role::Read);
pub(super) const CHECK_LOCK: Step = Step::command("check-lock", &["select"]);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: NAME,
        family: Family::DistributedTransaction,
        lesson: 11,
        summary: "Seata's AT: each database commits at once under a global lock; an undo log for a rollback",
        claims: Claims {
            // A unit that is sold out and comes back: a second click, or a transaction that a fault leaves, is rolled back
            // after others have read it.
            sometimes_broken_by: &[
                "crowd",
                "second-instance",
                "paused-holder",
                "blocked-runtime",
                "crashed-holder",
                "crashed-between",
                "second-click",
                "sql-restart",
                "sql-gone",
                "lost-reply",
                "store-silent",
                "disk-full",
                "pool-exhausted",
                "reconciler-killed",
                "rolling-replacement",
            ],
            ..AS_FAMILY
        },
        weak_at: "record",
        needs: &[],
        source: include_str!("mod.rs"),
    },
    stores: &["sql+sql"],
    steps: &STEPS,
    open: |world, _| Box::pin(async { opened(At::open(NAME, Reading::Committed, world).await?) }),
};

pub(super) const STEPS: [Step; 19] = [
    CONNECT,
    BEGIN,
    BEFORE_IMAGE,
    WRITE,
    LOG_IMAGES,
    GLOBAL_LOCK,
    COMMIT,
    RECORD,
    DECIDE,
    DELETE_IMAGES,
    END,
    ROLLBACK,
    FIND,
    PAUSE,
    OVERDUE,
    READ_IMAGES,
    RESTORE_ORDERS,
    RESTORE_STOCK,
    MARK_DIRTY,
];

/// The reads of a purchase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Reads what the databases have committed: a transaction that wrote it may still be rolled back.
    Committed,
    /// Reads a row only while no transaction has its global lock.
    GloballyCommitted,
}

pub(super) struct At {
    coordinator: Arc<Coordinator>,
    /// Stops when the strategy is dropped.
    _reconciler: AbortOnDropHandle<()>,
}

impl At {
    pub(super) async fn open(mechanism: &'static str, reading: Reading, world: &World) -> Result<Self, Error> {
        let databases = world.databases().await?;
        databases.stock.lay(transaction::TABLE).await?;
        databases.stock.lay(undo_log::TABLE).await?;
        databases.orders.lay(undo_log::TABLE).await?;
        let coordinator = Arc::new(Coordinator {
            mechanism,
            reading,
            reconcilers: databases.with_connections_of_their_own()?,
            locks: databases.stock.with_connections_of_its_own()?,
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
    mechanism: &'static str,
    reading: Reading,
    databases: Databases,
    /// For the global lock, which is taken while the local transaction is open.
    locks: Sql,
    reconcilers: Databases,
    timeouts: Timeouts,
    reconciled: Reconciled,
}

#[async_trait]
impl Strategy for At {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        probe.work().await;
        let coordinator = &self.coordinator;
        let mut backoff = coordinator.timeouts.backoff();
        while backoff.again(&purchase.item, probe).await {
            return Ok(match coordinator.sell(purchase, probe).await? {
                Tried::Sold(remaining) => Outcome::Sold { remaining },
                Tried::Repeated(order) => Outcome::Repeated(order),
                Tried::SoldOut => Outcome::SoldOut,
                Tried::Closed => Outcome::UnknownItem,
                Tried::LockConflict => continue,
            });
        }
        Ok(Outcome::Busy)
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
        let open = query("select count(*) from at_transactions where item = ? and mechanism = ?")
            .bind(item.as_str())
            .bind(self.coordinator.mechanism);
        let open = self.coordinator.databases.stock.count(open).await?;
        Ok(self.coordinator.reconciled.of(item, open))
    }
}
