//! Two-phase commit over two MariaDB servers by XA: both prepare, a decision is logged, both commit.
//!
//! ```text
//! A: take, record, xa-prepare, xa-prepare; (killed)     -- in doubt: both rows stay locked
//!                     B: take, BLOCKS
//! (the lease ends)
//! reconciler: decide, xa-rollback    -- at both
//!                     B: unblocked       -- the unit is there
//! ```
//!
//! Nothing is visible before the decision, a row that only one process can insert: a late purchase finds a rollback.
//! The price is the lock: it lasts for both phases, and for a lease longer after a crash. Source: tutorial 002, which
//! names the two phases. Ours: any live instance reads the log and carries the decision out; in the usual form both
//! databases wait until the coordinator is back. Orders commit before the stock: a unit that is gone has its order.
//! Cost: ten round trips.

mod decisions;

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::join_all;
use tokio_util::task::AbortOnDropHandle;

use self::decisions::{DECIDE, LOOK_UP, conclude, decide};
use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Name, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::Probe;
use crate::reconciler::{self, BATCH, End, InDoubt, Left, Pending, Reconcile, Reconciled};
use crate::stores::sql::xa::{
    Branch, Decision, Protocol, XA_COMMIT, XA_PREPARE, XA_RECOVER, XA_ROLLBACK, XA_START, Xid,
};
use crate::stores::sql::{CONNECT, Connection, Databases, FIND, READ, READ_LEFT, RECORD, TAKE, query};
use crate::stores::{Sql, Store};
use crate::world::World;

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "two-phase",
        family: Family::DistributedTransaction,
        lesson: 11,
        summary: "XA two-phase commit: prepare, log the decision, commit; a reconciler ends the rest",
        claims: AS_FAMILY,
        weak_at: "decide",
        needs: &[],
        source: include_str!("mod.rs"),
    },
    stores: &["sql+sql"],
    steps: &[
        CONNECT,
        XA_START,
        TAKE,
        READ_LEFT,
        RECORD,
        XA_PREPARE,
        DECIDE,
        XA_COMMIT,
        XA_ROLLBACK,
        FIND,
        READ,
        XA_RECOVER,
        LOOK_UP,
    ],
    open: |world, _| Box::pin(async { opened(TwoPhase::open(world).await?) }),
};

struct TwoPhase {
    coordinator: Arc<Coordinator>,
    /// Stops when the strategy is dropped.
    _reconciler: AbortOnDropHandle<()>,
}

impl TwoPhase {
    async fn open(world: &World) -> Result<Self, Error> {
        let databases = world.databases().await?;
        databases.stock.lay(decisions::TABLE).await?;
        let protocol = Protocol::of(ENTRY.mechanism.name, &databases.stock).await?;
        let own = databases.with_connections_of_their_own()?;
        let coordinator = Arc::new(Coordinator {
            // A connection with a prepared branch can do nothing else, so the log has its own connections.
            log: databases.stock.with_connections_of_its_own()?,
            reconcilers_log: databases.stock.with_connections_of_its_own()?,
            databases,
            protocol,
            in_doubt: InDoubt::new(own, protocol, world.timeouts.lease),
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
    log: Sql,
    reconcilers_log: Sql,
    protocol: Protocol,
    in_doubt: InDoubt,
    reconciled: Reconciled,
}

/// Reads the decision in the log, on a connection of its own.
async fn concluded(log: &Sql, xid: &Xid, probe: &Probe) -> Result<Decision, Error> {
    let mut log = log.connected(probe).await?;
    conclude(xid, probe, &mut log).await
}

impl Coordinator {
    /// The first phase: prepares both branches, stock first. Returns the units left; `None` when it does not sell.
    async fn prepared(
        &self,
        xid: &Xid,
        purchase: &Purchase,
        probe: &Probe,
        (stock, orders): (Connection, Connection),
    ) -> Result<Option<(Branch, Branch, i64)>, Error> {
        let mut stock = Branch::start(stock, xid, probe).await?;
        let Some(remaining) = Databases::take(purchase, probe, stock.connection()).await? else {
            stock.roll_back(probe).await?;
            return Ok(None);
        };
        let mut orders = Branch::start(orders, xid, probe).await?;
        if !self
            .databases
            .orders
            .record(purchase, probe, orders.connection())
            .await?
        {
            orders.roll_back(probe).await?;
            stock.roll_back(probe).await?;
            return Ok(None);
        }
        stock.prepare(&XA_PREPARE, probe).await?;
        orders.prepare(&XA_PREPARE, probe).await?;
        Ok(Some((stock, orders, remaining)))
    }

    /// Sells and returns the units left; `None` when it does not sell.
    async fn sell(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<i64>, Error> {
        // Connects before any lock: a purchase that gets no connection must not keep a row from others.
        let both = self.databases.connected(probe).await?;
        let mut log = self.log.connected(probe).await?;
        let xid = Xid::new(self.protocol, &purchase.item);
        let prepared = self.prepared(&xid, purchase, probe, both).await;
        // Without a decision nothing is sold, whatever the state of the branches.
        let prepared = prepared.map_err(|error| Error::given_up(Sql::NAME, &error))?;
        let Some((stock, orders, remaining)) = prepared else {
            return Ok(None);
        };
        let is_decided = match decide(&xid, Decision::Commit, probe, &mut log).await {
            Ok(is_decided) => is_decided,
            // The connection was lost, so only the log knows whether it has the decision. Asking also decides, if
            // nothing has.
            Err(error) => {
                tracing::warn!(%error, "asks the log for its own decision");
                drop(log);
                // A log that cannot be asked may still have it: the outcome is unknown.
                let decision = concluded(&self.log, &xid, probe).await;
                decision.map_err(|error| Error::failed(Sql::NAME, error))? == Decision::Commit
            }
        };
        if !is_decided {
            orders.roll_back(probe).await?;
            stock.roll_back(probe).await?;
            return Err(Error::given_up(Sql::NAME, &"a reconciler has decided to roll back"));
        }
        orders.commit(&XA_COMMIT, probe).await?;
        if let Err(error) = stock.commit(&XA_COMMIT, probe).await {
            tracing::warn!(%error, "left to the reconciler");
        }
        Ok(Some(remaining))
    }

    /// Ends an overdue transaction.
    async fn end(&self, left: &Left, probe: &Probe) -> Result<bool, Error> {
        let item = &left.xid.item;
        let probe = &probe.about(item);
        let decision = concluded(&self.reconcilers_log, &left.xid, probe).await?;
        let is_over = self.in_doubt.end(left, decision, probe).await?;
        if is_over {
            self.reconciled
                .count(item, End::from(decision), left.hung_ms, probe.counts());
        }
        Ok(is_over)
    }
}

#[async_trait]
impl Reconcile for Coordinator {
    async fn reconcile(&self, probe: &Probe) -> Result<bool, Error> {
        let left = self.in_doubt.overdue(probe).await?;
        let ends = join_all(left.iter().map(|left| self.end(left, probe))).await;
        // Tries all: one that fails must not block the others.
        let ended = ends.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(ended.iter().filter(|is_over| **is_over).count() == BATCH)
    }
}

#[async_trait]
impl Strategy for TwoPhase {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        probe.work().await;
        match self.coordinator.sell(purchase, probe).await? {
            Some(remaining) => Ok(Outcome::Sold { remaining }),
            None => self.coordinator.databases.refusal(purchase, probe).await,
        }
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.coordinator.reconciled.forget(item);
        let delete = || [query("delete from two_phase where item = ?").bind(item.as_str())];
        self.coordinator.databases.stock.operate(delete).await
    }

    async fn pending(&self, item: &Name) -> Result<Pending, Error> {
        let open = self.coordinator.in_doubt.open(item).await?;
        Ok(self.coordinator.reconciled.of(item, open))
    }
}
