//! The control: one buyer, one purchase after the other. Every strategy must be exact here. A strategy that fails this
//! control is broken without any threat.

use super::{InstanceCounts, Threat};
use crate::sale::Load;
use crate::shop::catalogue::Strategy;

/// The most units for one buyer: more of them would show nothing more.
const STOCK: i64 = 12;

pub(super) const THREAT: Threat = Threat {
    name: "one-buyer",
    title: "one buyer",
    is_control: true,
    instances: InstanceCounts::Any,
    load,
    source: include_str!("one_buyer.rs"),
    ..Threat::PLAIN
};

fn load(asked: Load, _: &Strategy) -> Load {
    let stock = asked.stock.min(STOCK * i64::from(asked.quantity));
    let enough = (stock / i64::from(asked.quantity)) as usize + 4;
    Load {
        buyers: 1,
        requests: asked.requests.min(enough * asked.items),
        stock,
        ..asked
    }
}
