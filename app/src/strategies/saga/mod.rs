//! A saga: take in Redis, then enter the order in MariaDB; if the second step fails, the units are given back.
//!
//! ```text
//! A: begin-saga, take; (killed)
//!                     B: begin-saga, take -> units that may come back: busy
//! (the lease ends)
//! reconciler: claim              -- no order, and none can be entered any more
//! reconciler: give-back, drop-saga
//!                     B: begin-saga, take -> OK
//! ```
//!
//! The log, in MariaDB, knows each saga before its first step, so that any live instance can end it. A saga whose order
//! exists is settled. Any other saga is compensated, and its late steps are refused. Source: tutorial 002 has the name
//! alone. Ours: a saga isolates nothing, and B would be told sold out for units that come back; here it waits for the
//! end of the other saga. Cost: five round trips.

mod log;
mod units;

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::join_all;
use tokio_util::task::AbortOnDropHandle;

use self::log::{BEGIN_SAGA, CLAIM, DROP_SAGA, END_SAGA, OVERDUE, RECORD, Saga};
use self::units::{GIVE_BACK, SETTLE, TAKE, Units};
use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Name, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::Probe;
use crate::reconciler::{self, BATCH, End, Pending, Reconcile, Reconciled};
use crate::stores::sql::{CONNECT, Connection, FIND, query};
use crate::stores::{Redis, Sql, Store};
use crate::timeouts::{PAUSE, Timeouts};
use crate::world::World;

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "saga",
        family: Family::TwoStores,
        lesson: 10,
        summary: "take in Redis, enter the order in MariaDB; a log by which unfinished sagas are compensated",
        claims: AS_FAMILY,
        weak_at: "record",
        needs: &[],
        source: include_str!("mod.rs"),
    },
    stores: &["redis+sql"],
    steps: &[
        CONNECT, BEGIN_SAGA, TAKE, RECORD, SETTLE, END_SAGA, CLAIM, GIVE_BACK, DROP_SAGA, FIND, PAUSE, OVERDUE,
    ],
    open: |world, _| Box::pin(async { opened(Sagas::open(world).await?) }),
};

struct Sagas {
    coordinator: Arc<Coordinator>,
    /// Stops when the strategy is dropped.
    _reconciler: AbortOnDropHandle<()>,
}

impl Sagas {
    async fn open(world: &World) -> Result<Self, Error> {
        let sql = world.store::<Sql>()?;
        sql.lay(log::TABLE).await?;
        let coordinator = Arc::new(Coordinator {
            units: Units::new(world.store()?),
            // Its own connections: purchases must not block it.
            reconcilers_sql: sql.with_connections_of_its_own()?,
            sql,
            instance: world.instance.clone(),
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
    units: Units,
    sql: Arc<Sql>,
    reconcilers_sql: Sql,
    instance: Name,
    timeouts: Timeouts,
    reconciled: Reconciled,
}

/// The result of the first step.
enum Taken {
    /// This saga has taken the units, and so many are left.
    Units(Saga, i64),
    /// No units were taken.
    Nothing(Outcome),
}

impl Coordinator {
    /// Begins sagas until one has taken the units.
    async fn take(&self, purchase: &Purchase, probe: &Probe, sql: &mut Connection) -> Result<Taken, Error> {
        let mut backoff = self.timeouts.backoff();
        let mut begun = None;
        let outcome = loop {
            if !backoff.again(&purchase.item, probe).await {
                break Outcome::Busy;
            }
            let saga = match begun.take() {
                Some(saga) => saga,
                None => {
                    let saga = Saga::of(purchase);
                    if !saga.begin(purchase, self.timeouts.lease, probe, sql).await? {
                        // Another copy of this purchase has a saga.
                        if let Some(order) = self.sql.find(purchase, probe, sql).await? {
                            break Outcome::Repeated(order);
                        }
                        continue;
                    }
                    saga
                }
            };
            let taken = self.units.take(&saga, purchase.quantity, probe).await;
            match taken.as_ref().map(|(word, left)| (word.as_str(), *left)) {
                Ok(("taken", left)) => return Ok(Taken::Units(saga, left)),
                // The reconciler has ended it, as it waited too long.
                Ok(("compensated", _)) => continue,
                Ok(("unknown", _)) => {
                    saga.drop(probe, sql).await?;
                    break Outcome::UnknownItem;
                }
                Ok(("sold out", _)) => {
                    saga.drop(probe, sql).await?;
                    break Outcome::SoldOut;
                }
                Ok(_) => begun = Some(saga),
                Err(error) => {
                    // If this fails, the reconciler compensates later. Without a second step nothing is sold.
                    let _ = self.compensate(&saga, probe, sql).await;
                    return Err(Error::given_up(Redis::NAME, error));
                }
            }
        };
        if let Some(saga) = begun {
            saga.drop(probe, sql).await?;
        }
        Ok(Taken::Nothing(outcome))
    }

    /// Compensates a saga. `None` when its order is in the ledger, otherwise whether units were given back.
    async fn compensate(&self, saga: &Saga, probe: &Probe, sql: &mut Connection) -> Result<Option<bool>, Error> {
        if !saga.claim(probe, sql).await? {
            return Ok(None);
        }
        let given_back = self.units.give_back(saga, probe).await?;
        saga.drop(probe, sql).await?;
        Ok(Some(given_back))
    }

    /// Ends an overdue saga.
    async fn end(&self, saga: &Saga, hung_ms: u64, probe: &Probe) -> Result<(), Error> {
        let probe = &probe.about(&saga.item);
        let mut sql = self.reconcilers_sql.connected(probe).await?;
        let end = match self.compensate(saga, probe, &mut sql).await? {
            Some(given_back) => given_back.then_some(End::Undone),
            None => {
                self.units.settle(saga, probe).await?;
                saga.end(probe, &mut sql).await?.then_some(End::Finished)
            }
        };
        if let Some(end) = end {
            self.reconciled.count(&saga.item, end, hung_ms, probe.counts());
        }
        Ok(())
    }
}

#[async_trait]
impl Reconcile for Coordinator {
    async fn reconcile(&self, probe: &Probe) -> Result<bool, Error> {
        let overdue = {
            let mut sql = self.reconcilers_sql.connected(probe).await?;
            log::overdue(probe, &mut sql).await?
        };
        let ends = overdue.iter().map(|(saga, hung_ms)| self.end(saga, *hung_ms, probe));
        // Tries all: one that fails must not block the others.
        join_all(ends).await.into_iter().collect::<Result<(), _>>()?;
        Ok(overdue.len() == BATCH)
    }
}

#[async_trait]
impl Strategy for Sagas {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        probe.work().await;
        let coordinator = &self.coordinator;
        let mut sql = coordinator.sql.connected(probe).await?;
        let (saga, remaining) = match coordinator.take(purchase, probe, &mut sql).await? {
            Taken::Units(saga, left) => (saga, left),
            Taken::Nothing(outcome) => return Ok(outcome),
        };
        match saga.record(&coordinator.instance, probe, &mut sql).await {
            Ok(true) => {}
            Ok(false) => return Ok(Outcome::Busy),
            Err(error) => {
                // Only a claim in MariaDB makes it certain that there is no order, and will be none.
                return match coordinator.compensate(&saga, probe, &mut sql).await {
                    Ok(Some(_)) => Err(Error::given_up(Sql::NAME, &error)),
                    _ => Err(Error::failed(Sql::NAME, error)),
                };
            }
        }
        let ended = async {
            coordinator.units.settle(&saga, probe).await?;
            saga.end(probe, &mut sql).await
        };
        if let Err(error) = ended.await {
            tracing::warn!(%error, "left to the reconciler");
        }
        Ok(Outcome::Sold { remaining })
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.coordinator.reconciled.forget(item);
        let delete = || [query("delete from saga where item = ?").bind(item.as_str())];
        self.coordinator.sql.operate(delete).await?;
        self.coordinator.units.forget(item).await
    }

    async fn pending(&self, item: &Name) -> Result<Pending, Error> {
        let open = query("select count(*) from saga where item = ? and deadline is not null").bind(item.as_str());
        let open = self.coordinator.sql.count(open).await?;
        Ok(self.coordinator.reconciled.of(item, open))
    }
}
