//! Many buyers come at once to two or more instances. Nothing breaks. A lock inside one process does not protect the
//! stock here.

use super::{InstanceCounts, Threat};

pub(super) const THREAT: Threat = Threat {
    name: "second-instance",
    title: "{instances} instances",
    instances: InstanceCounts::EachOfSeveral,
    source: include_str!("second_instance.rs"),
    ..Threat::PLAIN
};
