//! Draws of one round: the purchases that are sent more than once, and the sales after which the ledger is read.

use std::collections::HashSet;

use super::{Attack, Delivery};
use crate::sale::Load;

/// Purchases of a crowd that are sent twice at the same moment.
const DOUBLE_CLICKS: usize = 2;

/// The places of the purchases that are sent twice at the same moment, drawn for one round.
pub(super) struct DoubleClicks(HashSet<usize>);

impl DoubleClicks {
    pub(super) fn draw(attack: &Attack) -> Self {
        let load = &attack.sale.load;
        let mut places = HashSet::new();
        if !attack.one_at_a_time {
            let first_wave = load.buyers.min(load.requests);
            places.extend((0..DOUBLE_CLICKS).map(|_| rand::random_range(0..first_wave)));
        }
        for place in attack.injected_places() {
            places.remove(&place);
        }
        Self(places)
    }

    /// Returns how the purchase at that place is delivered.
    pub(super) fn delivery(&self, place: usize) -> Delivery {
        if self.0.contains(&place) {
            Delivery::Twice
        } else {
            Delivery::Once
        }
    }
}

/// The sales of one item that are followed by something else, drawn for one round. Sales are counted in the order of
/// their responses.
pub(super) struct AfterSale {
    /// The sale that is sent again as soon as its response has come.
    pub(super) repeated: usize,
    /// The sale that is sent again with another quantity, and with another buyer.
    pub(super) altered: usize,
    /// The sale after which the ledger is read, besides the first sale.
    pub(super) observed: usize,
}

impl AfterSale {
    /// Draws early sales, while there are units left that a forgetful shop could sell. `load` is the load of the item.
    pub(super) fn draw(load: &Load) -> Self {
        let sales = (load.stock / i64::from(load.quantity)).clamp(1, load.requests as i64) as usize;
        let early = sales.div_ceil(4);
        Self {
            repeated: rand::random_range(0..early),
            altered: rand::random_range(0..early),
            observed: rand::random_range(0..early),
        }
    }
}
