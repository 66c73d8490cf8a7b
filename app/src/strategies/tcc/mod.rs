//! Try, confirm, cancel: units are reserved in Redis for a time, made final, and the order is entered in MariaDB.
//!
//! ```text
//! A: try; (killed)        -- Redis: one unit reserved
//!                     B: try -> reserved by others: busy
//! (the lease ends)
//! reconciler: cancel
//!                     B: try -> one unit reserved
//! ```
//!
//! Only one of confirm and cancel succeeds. After a confirm the reconciler enters the order if its purchase did not. A
//! cancel that comes before its try is remembered, and the try is refused. Both can fail: a confirm that is too late is
//! refused and told busy; one whose reply is lost is told as unknown, and the reconciler ends it. Source: tutorial 002.
//! Ours: a reservation ends after a lease, and one participant: with a second one, whose reservation has expired when
//! the first is confirmed, half a sale would stay. This row cannot show that. Cost: four round trips.

mod transactions;

use std::sync::Arc;

use async_trait::async_trait;
use futures_util::future::join_all;
use tokio_util::task::AbortOnDropHandle;

use self::transactions::{CANCEL, COMPLETE, CONFIRM, LOOK, OVERDUE, State, TRY, Transaction, Transactions};
use super::{NativeEntry, Strategy, opened};
use crate::domain::{Error, Name, Outcome, Purchase};
use crate::mechanism::{AS_FAMILY, Family, Mechanism};
use crate::probe::Probe;
use crate::reconciler::{self, BATCH, End, Pending, Reconcile, Reconciled};
use crate::stores::sql::{CONNECT, Connection, FIND, RECORD};
use crate::stores::{Redis, Sql, Store};
use crate::timeouts::{PAUSE, Timeouts};
use crate::world::World;

pub(super) const ENTRY: NativeEntry = NativeEntry {
    mechanism: Mechanism {
        name: "tcc",
        family: Family::TwoStores,
        lesson: 10,
        summary: "try reserves in Redis, confirm makes it final, cancel frees; a reconciler ends the rest",
        claims: AS_FAMILY,
        weak_at: "record",
        needs: &[],
        source: include_str!("mod.rs"),
    },
    stores: &["redis+sql"],
    steps: &[
        CONNECT, TRY, CONFIRM, RECORD, COMPLETE, CANCEL, FIND, PAUSE, OVERDUE, LOOK,
    ],
    open: |world, _| Box::pin(async { opened(Tcc::open(world)?) }),
};

struct Tcc {
    coordinator: Arc<Coordinator>,
    /// Stops when the strategy is dropped.
    _reconciler: AbortOnDropHandle<()>,
}

impl Tcc {
    fn open(world: &World) -> Result<Self, Error> {
        let sql = world.store::<Sql>()?;
        let coordinator = Arc::new(Coordinator {
            transactions: Transactions::new(world.store()?, world.timeouts.lease),
            // Its own connections: purchases must not block it.
            reconcilers_sql: sql.with_connections_of_its_own()?,
            sql,
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
    transactions: Transactions,
    sql: Arc<Sql>,
    reconcilers_sql: Sql,
    timeouts: Timeouts,
    reconciled: Reconciled,
}

impl Coordinator {
    /// Tries until the units are reserved, and returns the units left, or the outcome if there is nothing to reserve.
    async fn reserve(
        &self,
        transaction: &Transaction,
        purchase: &Purchase,
        probe: &Probe,
        sql: &mut Connection,
    ) -> Result<Result<i64, Outcome>, Error> {
        let mut backoff = self.timeouts.backoff();
        while backoff.again(&purchase.item, probe).await {
            let tried = self.transactions.reserve(transaction, purchase, probe).await;
            let (word, left) = match tried {
                Ok(tried) => tried,
                Err(error) => {
                    // The try may still reach Redis. It sells nothing: only this purchase could confirm it.
                    let _ = self.transactions.cancel(transaction, probe).await;
                    return Err(Error::given_up(Redis::NAME, &error));
                }
            };
            match word.as_str() {
                "tried" => return Ok(Ok(left)),
                "sold out" => return Ok(Err(Outcome::SoldOut)),
                "unknown" => return Ok(Err(Outcome::UnknownItem)),
                "cancelled" => return Ok(Err(Outcome::Busy)),
                "completed" => {
                    if let Some(order) = self.sql.find(purchase, probe, sql).await? {
                        return Ok(Err(Outcome::Repeated(order)));
                    }
                }
                // Reserved by another purchase, or by another copy of this one.
                _ => {}
            }
        }
        Ok(Err(Outcome::Busy))
    }

    /// Ends an overdue transaction.
    async fn end(&self, item: &Name, order: &str, probe: &Probe) -> Result<(), Error> {
        let probe = &probe.about(item);
        let Some((transaction, state, purchase)) = self.transactions.look(item, order, probe).await? else {
            return Ok(());
        };
        let (end, hung_ms) = match state {
            State::Trying => (End::Undone, self.transactions.cancel(&transaction, probe).await?),
            State::Confirmed => {
                let mut sql = self.reconcilers_sql.connected(probe).await?;
                self.reconcilers_sql.record(&purchase, probe, &mut sql).await?;
                (End::Finished, self.transactions.complete(&transaction, probe).await?)
            }
        };
        if let Some(hung_ms) = hung_ms {
            self.reconciled.count(item, end, hung_ms, probe.counts());
        }
        Ok(())
    }
}

#[async_trait]
impl Reconcile for Coordinator {
    async fn reconcile(&self, probe: &Probe) -> Result<bool, Error> {
        let overdue = self.transactions.overdue(probe).await?;
        let ends = overdue.iter().map(|(item, order)| self.end(item, order, probe));
        // Tries all: one that fails must not block the others.
        join_all(ends).await.into_iter().collect::<Result<(), _>>()?;
        Ok(overdue.len() == BATCH)
    }
}

#[async_trait]
impl Strategy for Tcc {
    async fn buy(&self, purchase: &Purchase, probe: &Probe) -> Result<Outcome, Error> {
        probe.work().await;
        let Coordinator {
            transactions,
            sql: store,
            ..
        } = &*self.coordinator;
        // Connects before the try: a purchase that gets no connection must not keep units from others.
        let mut sql = store.connected(probe).await?;
        let transaction = Transaction::of(purchase);
        let tried = self
            .coordinator
            .reserve(&transaction, purchase, probe, &mut sql)
            .await?;
        let remaining = match tried {
            Ok(left) => left,
            Err(outcome) => return Ok(outcome),
        };
        if !transactions.confirm(&transaction, probe).await? {
            return Ok(Outcome::Busy);
        }
        let recorded = store.record(purchase, probe, &mut sql).await;
        // The reconciler will enter the order if MariaDB did not: after an error the outcome is unknown.
        recorded.map_err(|error| Error::failed(Sql::NAME, error))?;
        if let Err(error) = transactions.complete(&transaction, probe).await {
            tracing::warn!(%error, "left to the reconciler");
        }
        Ok(Outcome::Sold { remaining })
    }

    async fn forget(&self, item: &Name) -> Result<(), Error> {
        self.coordinator.reconciled.forget(item);
        self.coordinator.transactions.forget(item).await
    }

    async fn pending(&self, item: &Name) -> Result<Pending, Error> {
        let open = self.coordinator.transactions.open(item).await?;
        Ok(self.coordinator.reconciled.of(item, open))
    }
}
