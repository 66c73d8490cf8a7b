//! The second phase: ends a transaction, for its purchase or for a reconciler.

use async_trait::async_trait;
use futures_util::future::join_all;

use super::Coordinator;
use super::transaction::{Decided, Overdue, Transaction, overdue};
use super::undo_log::{Branch, delete, undo};
use crate::domain::Error;
use crate::probe::Probe;
use crate::reconciler::{BATCH, End, Reconcile};
use crate::stores::sql::Connection;

/// Ends a committed transaction and deletes its images. False when it had ended before.
pub(super) async fn finish(
    transaction: &Transaction,
    probe: &Probe,
    stock: &mut Connection,
    orders: &mut Connection,
) -> Result<bool, Error> {
    delete(transaction, probe, orders).await?;
    transaction.end(probe, stock).await
}

/// Undoes the branches, the last one first, and ends the transaction. Without `orders` only the stock is undone: the
/// purchase has entered no order. False when it had ended before, or is left to an operator.
pub(super) async fn roll_back(
    transaction: &Transaction,
    probe: &Probe,
    stock: &mut Connection,
    orders: Option<&mut Connection>,
) -> Result<bool, Error> {
    let mut is_clean = true;
    if let Some(orders) = orders {
        is_clean = undo(Branch::Orders, transaction, probe, orders).await?;
    }
    if is_clean && undo(Branch::Stock, transaction, probe, stock).await? {
        return transaction.end(probe, stock).await;
    }
    let Transaction { item, id } = transaction;
    tracing::error!(%item, transaction = %id, "a dirty write: the row differs from the after image and stays as it is");
    transaction.mark_dirty(probe, stock).await?;
    Ok(false)
}

impl Coordinator {
    /// Ends an overdue transaction.
    async fn end(&self, overdue: &Overdue, probe: &Probe) -> Result<(), Error> {
        let Overdue {
            transaction,
            decided,
            hung_ms,
        } = overdue;
        let probe = &probe.about(&transaction.item);
        let (mut stock, mut orders) = self.reconcilers.connected(probe).await?;
        let decided = match decided {
            Some(decided) => *decided,
            None if transaction.decide(Decided::RollingBack, probe, &mut stock).await? => Decided::RollingBack,
            // Another process has decided first, and will end it.
            None => return Ok(()),
        };
        let (end, is_over) = match decided {
            Decided::Committed => (
                End::Finished,
                finish(transaction, probe, &mut stock, &mut orders).await?,
            ),
            Decided::RollingBack => {
                let is_over = roll_back(transaction, probe, &mut stock, Some(&mut orders)).await?;
                (End::Undone, is_over)
            }
        };
        if is_over {
            self.reconciled.count(&transaction.item, end, *hung_ms, probe.counts());
        }
        Ok(())
    }
}

#[async_trait]
impl Reconcile for Coordinator {
    async fn reconcile(&self, probe: &Probe) -> Result<bool, Error> {
        let overdue = {
            let mut sql = self.reconcilers.stock.connected(probe).await?;
            overdue(self.mechanism, probe, &mut sql).await?
        };
        let ends = overdue.iter().map(|overdue| self.end(overdue, probe));
        // Tries all: one that fails must not block the others.
        join_all(ends).await.into_iter().collect::<Result<(), _>>()?;
        Ok(overdue.len() == BATCH)
    }
}
