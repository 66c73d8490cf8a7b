//! The second phase: how a transaction ends, by its purchase or by whoever finds it left.

use async_trait::async_trait;
use futures_util::future::join_all;

use super::Coordinator;
use super::transaction::{Decided, Overdue, Transaction, overdue};
use super::undo_log::{Branch, delete, undo};
use crate::domain::Error;
use crate::probe::Probe;
use crate::reconciler::{BATCH, End, Reconcile};
use crate::stores::sql::Connection;

/// Ends a transaction that is committed: nobody needs its images any more. False when it had ended.
pub(super) async fn finish(
    transaction: &Transaction,
    probe: &Probe,
    stock: &mut Connection,
    orders: &mut Connection,
) -> Result<bool, Error> {
    delete(transaction, probe, orders).await?;
    transaction.end(probe, stock).await
}

/// Undoes the branches, the last one first, and ends the transaction. The branch at the orders is left out by a purchase that
/// did not come there. False when it had ended, or is left to an operator.
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
    tracing::error!(%item, transaction = %id, "a dirty write: the row is not as the after image says, and is left as it is");
    transaction.mark_dirty(probe, stock).await?;
    Ok(false)
}

impl Coordinator {
    /// Ends a transaction that its purchase has left.
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
            // Somebody else has come first, and is about to end it.
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
            self.reconciled.count(&transaction.item, end, *hung_ms);
        }
        Ok(())
    }
}

#[async_trait]
impl Reconcile for Coordinator {
    async fn reconcile(&self, probe: &Probe) -> Result<bool, Error> {
        let overdue = {
            let mut sql = self.reconcilers.stock.connected(probe).await?;
            overdue(probe, &mut sql).await?
        };
        let ends = overdue.iter().map(|overdue| self.end(overdue, probe));
        // All are tried: one that cannot be ended must not keep the others.
        join_all(ends).await.into_iter().collect::<Result<(), _>>()?;
        Ok(overdue.len() == BATCH)
    }
}
