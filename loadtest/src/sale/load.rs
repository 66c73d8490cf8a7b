//! The load of one round.

use serde::{Deserialize, Serialize};

/// The most purchases of one round: every response is kept in memory.
pub const MAX_REQUESTS: usize = 1_000_000;

/// The most buyers at once: each one is a connection.
pub const MAX_BUYERS: usize = 5_000;

/// The most items that are sold at once: each of them is a sale that a shop has to keep.
pub const MAX_ITEMS: usize = 1_000;

/// The most buyers of a round with a fault: each of them may have to wait for the end of a lease.
const FAULT_BUYERS: usize = 16;

/// The load of one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Load {
    /// Buyers that act at the same time.
    pub buyers: usize,
    /// Purchases in all.
    pub requests: usize,
    /// Units for sale of each item.
    pub stock: i64,
    /// Items that are sold at once; the purchases are spread over them.
    pub items: usize,
    /// Units of each purchase.
    pub quantity: u32,
    /// Business time between read and write, in milliseconds, on average.
    pub work_ms: u64,
}

impl Load {
    /// Returns the units that all purchases together ask for.
    pub fn demand(&self) -> i64 {
        self.requests as i64 * i64::from(self.quantity)
    }

    /// Returns the units for sale of all items.
    pub fn all_stock(&self) -> i64 {
        self.stock.saturating_mul(i64::try_from(self.items).unwrap_or(i64::MAX))
    }

    /// Returns the load of a round with a fault, in two waves. The fault is in the first wave, which cannot sell
    /// everything; the second wave wants more than is left. All buyers want one item, so that others compete with the
    /// purchase that is struck.
    pub fn two_waves(self) -> Self {
        let buyers = self.buyers.min(FAULT_BUYERS);
        Self {
            buyers,
            requests: buyers * 2,
            stock: (buyers + buyers / 4) as i64 * i64::from(self.quantity),
            items: 1,
            ..self
        }
    }
}
