//! Three-phase commit over two MariaDB servers: vote, pre-commit, commit. A participant without news decides alone.
//!
//! ```text
//! A: take, record, can-commit, can-commit, pre-commit; (killed)    -- at the orders
//! -- the stock has no news since its vote: MariaDB rolls back as the connection ends
//! the orders: (the lease ends); xa-commit    -- no news since the pre-commit
//!                     B: take -> the same unit, sold again: oversold
//! ```
//!
//! Without news a participant rolls back before its pre-commit, as MariaDB does when the connection ends, and commits
//! after it. Source: tutorial 002, which names one more round than in two phases, and time-outs. Ours: the instances
//! keep the time, as MariaDB has no such time-out, and a participant asks nobody. By Skeen's termination protocol the
//! participants compare what they have heard, which survives this crash, and a coordinator that is cut off from one of
//! them (`lost-reply`). Only a partition between the participants breaks that. It is not shown: two databases do not
//! ask each other. Cost: eleven round trips.

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::join_all;
use tokio_util::task::AbortOnDropHandle;

use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Name, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Claims, Family, Mechanism};
use crate::probe::{Probe, Role, Step};
use crate::reconciler::{self, BATCH, End, InDoubt, Left, Pending, Reconcile, Reconciled};
use crate::stores::sql::xa::{Branch, Decision, Protocol, XA_COMMIT, XA_RECOVER, XA_ROLLBACK, XA_START, Xid};
use crate::stores::sql::{CONNECT, Databases, FIND, READ, READ_LEFT, RECORD, TAKE};
use crate::world::World;

/// The vote: the work is done and holds its locks. A participant that hears no more after it rolls back.
const CAN_COMMIT: Step = Step::command("can-commit", &["xa"]);
/// All have voted yes. A participant that hears no more after it commits.
const PRE_COMMIT: Step = Step::command("pre-commit", &["xa"]);
const DO_COMMIT: Step = Step::command("do-commit", &["xa"]).plays(Role::Commit);

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "three-phase",
        family: Family::DistributedTransaction,
        lesson: 11,
        summary: "three-phase commit: vote, pre-commit, commit; without news a participant decides alone",
        claims: Claims {
            broken_by: &[
                "crashed-holder",
                "crashed-between",
                "sql-restart",
                "store-silent",
                "lost-reply",
                "reconciler-killed",
            ],
            sometimes_broken_by: &["sql-gone"],
            ..AS_FAMILY
        },
        weak_at: "pre-commit+",
        needs: &[],
        source: include_str!("three_phase.rs"),
    },
    stores: &["sql+sql"],
    steps: &[
        CONNECT,
        XA_START,
        TAKE,
        READ_LEFT,
        RECORD,
        CAN_COMMIT,
        PRE_COMMIT,
        DO_COMMIT,
        XA_ROLLBACK,
        FIND,
        READ,
        XA_RECOVER,
        XA_COMMIT,
    ],
    open: |world, _| Box::pin(async { opened(ThreePhase::open(world).await?) }),
};

struct ThreePhase {
    databases: Databases,
    protocol: Protocol,
    participants: Arc<Participants>,
    /// Stops when the strategy is dropped.
    _reconciler: AbortOnDropHandle<()>,
}

impl ThreePhase {
    async fn open(world: &World) -> Result<Self, Error> {
        let databases = world.databases().await?;
        let protocol = Protocol::of(ENTRY.mechanism.name, &databases.stock).await?;
        let own = databases.with_connections_of_their_own()?;
        let participants = Arc::new(Participants {
            in_doubt: InDoubt::new(own, protocol, world.timeouts.lease),
            reconciled: Reconciled::default(),
        });
        Ok(Self {
            databases,
            protocol,
            _reconciler: reconciler::start(world, participants.clone()),
            participants,
        })
    }

    /// Sells and returns the units left; `None` when it does not sell.
    async fn sell(&self, purchase: &Purchase, probe: &Probe) -> Result<Option<i64>, Error> {
        // Connects before any lock: a purchase that gets no connection must not keep a row from others.
        let (stock, orders) = self.databases.connected(probe).await?;
        let xid = Xid::new(self.protocol, &purchase.item);

        let mut stock = Branch::start(stock, &xid, probe).await?;
        let Some(remaining) = Databases::take(purchase, probe, stock.connection()).await? else {
            stock.roll_back(probe).await?;
            return Ok(None);
        };
        stock.end(&CAN_COMMIT, probe).await?;
        let mut orders = Branch::start(orders, &xid, probe).await?;
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
        orders.end(&CAN_COMMIT, probe).await?;

        orders.prepare(&PRE_COMMIT, probe).await?;
        if let Err(error) = stock.prepare(&PRE_COMMIT, probe).await {
            // The coordinator is still there, so the other participant need not decide alone.
            orders.roll_back(probe).await?;
            return Err(error);
        }

        // The order commits first: a unit that is gone has its order.
        orders.commit(&DO_COMMIT, probe).await?;
        if let Err(error) = stock.commit(&DO_COMMIT, probe).await {
            tracing::warn!(%error, "left to the participant");
        }
        Ok(Some(remaining))
    }
}

/// The timeouts of both servers: MariaDB has none of its own for prepared branches.
struct Participants {
    in_doubt: InDoubt,
    reconciled: Reconciled,
}

impl Participants {
    /// Commits a branch that has heard nothing since its pre-commit, and asks no other participant.
    async fn time_out(&self, left: &Left, probe: &Probe) -> Result<bool, Error> {
        let item = &left.xid.item;
        let is_over = self.in_doubt.end(left, Decision::Commit, &probe.about(item)).await?;
        if is_over {
            self.reconciled.count(item, End::Finished, left.hung_ms, probe.counts());
        }
        Ok(is_over)
    }
}

#[async_trait]
impl Reconcile for Participants {
    async fn reconcile(&self, probe: &Probe) -> Result<bool, Error> {
        let left = self.in_doubt.overdue(probe).await?;
        let ends = join_all(left.iter().map(|left| self.time_out(left, probe))).await;
        // Tries all: one that fails must not block the others.
        let ended = ends.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(ended.iter().filter(|is_over| **is_over).count() == BATCH)
    }
}

#[async_trait]
impl Strategy for ThreePhase {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        probe.work().await;
        match self.sell(purchase, probe).await? {
            Some(remaining) => Ok(Outcome::Sold { remaining }),
            None => self.databases.refusal(purchase, probe).await,
        }
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.participants.reconciled.forget(item);
        Ok(())
    }

    async fn pending(&self, item: &Name) -> Result<Pending, Error> {
        let open = self.participants.in_doubt.open(item).await?;
        Ok(self.participants.reconciled.of(item, open))
    }
}
