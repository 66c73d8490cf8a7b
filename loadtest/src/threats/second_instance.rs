//! Many buyers at once, spread over two or more instances: what no lock inside a process survives.

use super::{InstanceCounts, Threat};

pub(super) const THREAT: Threat = Threat {
    name: "second-instance",
    title: "{instances} instances",
    instances: InstanceCounts::EachOfSeveral,
    source: include_str!("second_instance.rs"),
    ..Threat::PLAIN
};
