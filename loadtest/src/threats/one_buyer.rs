//! The control: one buyer at a time. Who is not exact here is a straw man, not a strategy.

use super::{Threat, smallest_crowd_of_instances};
use crate::sale::Load;
use crate::shop::catalogue::Strategy;

/// Units that one buyer may find: alone, more of them would show nothing more.
const STOCK: i64 = 12;

pub(super) struct OneBuyer;

impl Threat for OneBuyer {
    fn name(&self) -> &'static str {
        "one-buyer"
    }

    fn title(&self, _instances: usize) -> String {
        "one buyer".to_owned()
    }

    fn is_control(&self) -> bool {
        true
    }

    fn instances(&self, counts: &[usize]) -> Vec<usize> {
        smallest_crowd_of_instances(counts)
            .or(counts.first().copied())
            .into_iter()
            .collect()
    }

    fn load(&self, asked: Load, _: &Strategy) -> Load {
        let stock = asked.stock.min(STOCK * i64::from(asked.quantity));
        let enough = (stock / i64::from(asked.quantity)) as usize + 4;
        Load {
            buyers: 1,
            requests: asked.requests.min(enough * asked.items),
            stock,
            ..asked
        }
    }
}
