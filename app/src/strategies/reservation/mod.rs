//! A reservation: units are held for a buyer for a time, then paid, or given back.
//!
//! ```text
//! A: hold; take; commit; (killed)       -- one unit is held until the deadline
//!                     B: hold; take; look     -- 0 rows, and a unit that may come back: B tries again
//! (the lease ends)
//! reconciler: expire, give-back
//!                     B: hold; take; commit
//!                     B: pay; order; commit
//! ```
//!
//! Each unit is free, held or sold, and goes from one to the next in one transaction. A payment after the units were
//! given back finds no row: the buyer is told busy, and a real shop gives the money back. Others wait for units that are
//! held: sold out would be wrong. A paid row stays, so that a copy of the purchase cannot hold again. It is `tcc` in one
//! store. Cost: nine round trips, the row of the stock locked for three, and none while the buyer pays.

mod rows;

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::join_all;
use tokio_util::task::AbortOnDropHandle;

use self::rows::{EXPIRE, GIVE_BACK, HOLD, LOOK, OVERDUE, Overdue, PAY};
use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Name, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::Probe;
use crate::reconciler::{self, BATCH, End, Pending, Reconcile, Reconciled};
use crate::stores::sql::{BEGIN, COMMIT, CONNECT, Connection, Databases, READ_LEFT, RECORD, ROLLBACK, TAKE, query};
use crate::stores::{Sql, Store};
use crate::timeouts::{PAUSE, Timeouts};
use crate::world::World;

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "reservation",
        family: Family::Atomic,
        lesson: 10,
        summary: "units are held for a time, then paid or given back; a late payment finds no reservation",
        claims: AS_FAMILY,
        weak_at: "pay",
        needs: &[],
        source: include_str!("mod.rs"),
    },
    stores: &["sql"],
    steps: &[
        CONNECT, BEGIN, HOLD, TAKE, READ_LEFT, COMMIT, ROLLBACK, LOOK, PAY, RECORD, PAUSE, OVERDUE, EXPIRE, GIVE_BACK,
    ],
    open: |world, _| Box::pin(async { opened(Reservations::open(world).await?) }),
};

struct Reservations {
    desk: Arc<Desk>,
    /// Stops when the strategy is dropped.
    _reconciler: AbortOnDropHandle<()>,
}

impl Reservations {
    async fn open(world: &World) -> Result<Self, Error> {
        let sql = world.store::<Sql>()?;
        sql.lay(rows::TABLE).await?;
        let desk = Arc::new(Desk {
            // Its own connections: purchases must not block it.
            reconcilers_sql: sql.with_connections_of_its_own()?,
            sql,
            timeouts: world.timeouts,
            reconciled: Reconciled::default(),
        });
        Ok(Self {
            _reconciler: reconciler::start(world, desk.clone()),
            desk,
        })
    }
}

/// Makes reservations, takes payments, and gives back what was not paid.
struct Desk {
    sql: Arc<Sql>,
    reconcilers_sql: Sql,
    timeouts: Timeouts,
    reconciled: Reconciled,
}

impl Desk {
    /// Reserves in a transaction that was begun. Returns the units left; `None` when the order has a reservation, or too
    /// few units are free.
    async fn hold(&self, purchase: &Purchase, probe: &Probe, sql: &mut Connection) -> Result<Option<i64>, Error> {
        // Its own row first, as the reconciler does: so no two of them wait for each other.
        if !rows::hold(purchase, self.timeouts.lease, probe, sql).await? {
            return Ok(None);
        }
        let left = Databases::take(purchase, probe, sql).await?;
        if left.is_some() {
            self.sql.commit(purchase, probe, sql).await?;
        }
        Ok(left)
    }

    /// Tries until units are held, and returns the units left, or the outcome if there is nothing to hold.
    async fn reserve(&self, purchase: &Purchase, probe: &Probe) -> Result<Result<i64, Outcome>, Error> {
        let mut backoff = self.timeouts.backoff();
        while backoff.again(&purchase.item, probe).await {
            let mut sql = self.sql.begun(purchase, probe).await?;
            match self.hold(purchase, probe, &mut sql).await {
                Ok(Some(left)) => return Ok(Ok(left)),
                Ok(None) | Err(Error::GivenUp { .. }) => self.sql.roll_back(purchase, probe, &mut sql).await?,
                // It may be held. That sells nothing: only this purchase could pay.
                Err(error) => return Err(Error::given_up(Sql::NAME, &error)),
            }
            let Some(left) = rows::look(purchase, probe, &mut sql).await? else {
                return Ok(Err(Outcome::UnknownItem));
            };
            if let Some(order) = left.order {
                return Ok(Err(Outcome::Repeated(order)));
            }
            if left.free + left.held < purchase.quantity.into() {
                return Ok(Err(Outcome::SoldOut));
            }
        }
        Ok(Err(Outcome::Busy))
    }

    /// Pays in one transaction. False when the units were given back, or another copy of the purchase has paid.
    async fn pay(&self, purchase: &Purchase, probe: &Probe) -> Result<bool, Error> {
        let mut sql = self.sql.begun(purchase, probe).await?;
        let is_paid = rows::pay(purchase, probe, &mut sql).await?;
        if !is_paid || !self.sql.record(purchase, probe, &mut sql).await? {
            self.sql.roll_back(purchase, probe, &mut sql).await?;
            return Ok(false);
        }
        self.sql.commit(purchase, probe, &mut sql).await?;
        Ok(true)
    }

    /// Gives back the units of an overdue reservation.
    async fn end(&self, overdue: &Overdue, probe: &Probe) -> Result<(), Error> {
        let item = &overdue.item;
        let probe = &probe.about(item);
        let mut sql = self.reconcilers_sql.connected(probe).await?;
        probe.step(&BEGIN, item, sql.begin(), |()| "begun").await?;
        if !overdue.give_back(probe, &mut sql).await? {
            return probe.step(&ROLLBACK, item, sql.rollback(), |()| "rolled back").await;
        }
        probe.step(&COMMIT, item, sql.commit(), |()| "committed").await?;
        self.reconciled
            .count(item, End::Undone, overdue.hung_ms, probe.counts());
        Ok(())
    }
}

#[async_trait]
impl Reconcile for Desk {
    async fn reconcile(&self, probe: &Probe) -> Result<bool, Error> {
        let overdue = {
            let mut sql = self.reconcilers_sql.connected(probe).await?;
            rows::overdue(probe, &mut sql).await?
        };
        let ends = overdue.iter().map(|overdue| self.end(overdue, probe));
        // Tries all: one that fails must not block the others.
        join_all(ends).await.into_iter().collect::<Result<(), _>>()?;
        Ok(overdue.len() == BATCH)
    }
}

#[async_trait]
impl Strategy for Reservations {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        let remaining = match self.desk.reserve(purchase, probe).await? {
            Ok(left) => left,
            Err(outcome) => return Ok(outcome),
        };
        // The buyer pays.
        probe.work().await;
        Ok(match self.desk.pay(purchase, probe).await? {
            true => Outcome::Sold { remaining },
            false => Outcome::Busy,
        })
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.desk.reconciled.forget(item);
        let delete = || [query("delete from reservation where item = ?").bind(item.as_str())];
        self.desk.sql.operate(delete).await
    }

    async fn pending(&self, item: &Name) -> Result<Pending, Error> {
        let open = query("select count(*) from reservation where item = ? and not paid").bind(item.as_str());
        let open = self.desk.sql.count(open).await?;
        Ok(self.desk.reconciled.of(item, open))
    }
}
