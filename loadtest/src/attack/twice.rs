//! Which purchases of a round are sent more than once, and after which the ledger is looked at.

use std::collections::HashSet;

use super::{Attack, Delivery};
use crate::sale::Load;

/// Purchases of a crowd that are sent twice at one moment.
const AT_ONCE: usize = 2;

/// Places of purchases that are sent twice at one moment, drawn for one round.
pub(super) struct Twice(HashSet<usize>);

impl Twice {
    pub(super) fn draw(attack: &Attack) -> Self {
        let load = &attack.sale.load;
        let mut at_once = HashSet::new();
        if !attack.one_at_a_time {
            let first_wave = load.buyers.min(load.requests);
            at_once.extend((0..AT_ONCE).map(|_| rand::random_range(0..first_wave)));
        }
        for place in attack.injected_places() {
            at_once.remove(&place);
        }
        Self(at_once)
    }

    /// How the purchase at that place is delivered.
    pub(super) fn delivery(&self, place: usize) -> Delivery {
        if self.0.contains(&place) {
            Delivery::Twice
        } else {
            Delivery::Once
        }
    }
}

/// What is done after some of the sales of one item, drawn for one round.
pub(super) struct AfterSale {
    /// Which sale is sent again as soon as its answer has come, counted in the order of the answers.
    pub(super) repeated: usize,
    /// Which one is sent again with another quantity, and with another buyer.
    pub(super) altered: usize,
    /// After which one, besides the first, the ledger is looked at.
    pub(super) observed: usize,
}

impl AfterSale {
    /// All of it early, while units are left that a forgetful shop could sell. `load` is that of the item.
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
