//! Draws of one round: the purchases that are sent more than once, and the sales after which the ledger is read.

use std::collections::HashSet;

use super::{Attack, Delivery};
use crate::sale::Load;

/// The parts of a sale, of each of which one purchase is sent again, is sent again altered, or is followed by a reading.
const REPEATED: usize = 4;
const ALTERED: usize = 2;
const OBSERVED: usize = 4;

/// The most deliveries of an item that follow its sales: an altered purchase has another quantity once, and another buyer
/// once.
pub(super) const MOST_DELIVERIES: usize = REPEATED + 2 * ALTERED;

/// The most readings of an item's ledger while a crowd buys: after its first sale, after those that are drawn, and after
/// the first buyer that was told sold out.
pub(super) const MOST_READINGS: usize = OBSERVED + 2;

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

/// The sales of one item that are followed by something else, drawn for one round: some in each part of the sale, from
/// its beginning to its end. Sales are counted in the order of their responses.
pub(super) struct AfterSale {
    /// The sales that are sent again as soon as their responses have come.
    pub(super) repeated: Vec<usize>,
    /// The sales that are sent again with another quantity, and with another buyer.
    pub(super) altered: Vec<usize>,
    /// The sales after which the ledger is read, besides the first sale.
    pub(super) observed: Vec<usize>,
}

impl AfterSale {
    /// Draws the sales. `load` is the load of the item.
    pub(super) fn draw(load: &Load) -> Self {
        let sales = (load.stock / i64::from(load.quantity)).clamp(1, load.requests as i64) as usize;
        Self {
            repeated: one_in_each_part(sales, REPEATED),
            altered: one_in_each_part(sales, ALTERED),
            observed: one_in_each_part(sales, OBSERVED),
        }
    }
}

/// Divides that many sales into parts and draws one of each part. Returns fewer if there are fewer sales.
fn one_in_each_part(sales: usize, parts: usize) -> Vec<usize> {
    let begin = |part| part * sales / parts;
    let parts = (0..parts).map(|part| begin(part)..begin(part + 1));
    parts.filter(|part| !part.is_empty()).map(rand::random_range).collect()
}
