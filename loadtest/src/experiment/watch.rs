//! A round that goes on, for an observer that shows it.

use anyhow::Result;

use crate::audit::Overlap;
use crate::facts::Facts;
use crate::sale::sale_set::SaleSet;
use crate::trace::SaleTrace;

/// The sales of a round that goes on.
#[derive(Clone)]
pub struct WatchedRound {
    pub(super) sale_set: SaleSet,
    pub(super) traces: Vec<SaleTrace>,
}

/// The ledgers of a round, while buyers are at work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledgers {
    /// The units in the counters; `None` where one is missing or not a number.
    pub left: Option<i64>,
    /// The units of all orders.
    pub recorded: i64,
}

impl WatchedRound {
    /// Returns the units that buyers were told sold so far, each purchase once.
    pub fn told(&self) -> i64 {
        self.sale_set.told()
    }

    /// Reads the ledgers of all its sales once.
    ///
    /// # Errors
    /// When a store does not answer.
    pub async fn ledgers(&self) -> Result<Ledgers> {
        let mut all = Ledgers {
            left: Some(0),
            recorded: 0,
        };
        for sale in &self.sale_set.sales {
            let Facts { stock_left, orders, .. } = sale.snapshot().await?.facts;
            all.left = all.left.zip(stock_left).map(|(left, more)| left.saturating_add(more));
            let recorded = orders.iter().map(|order| order.quantity);
            all.recorded = recorded.fold(all.recorded, i64::saturating_add);
        }
        Ok(all)
    }

    /// Returns how many pairs of purchases have held one lock at the same time so far; `None` where no purchase has asked for
    /// a lock, or an instance gives no trace now.
    pub async fn overlaps(&self) -> Option<u64> {
        let mut pairs = None;
        for trace in &self.traces {
            let seen = Overlap::of(&trace.look().await?.purchases);
            pairs = pairs.max(seen.map(|overlap| overlap.pairs));
        }
        pairs
    }
}
