//! Many buyers at once on one instance: what a lock inside the process still survives.

use super::{InstanceCounts, Threat};

pub(super) const THREAT: Threat = Threat {
    name: "crowd",
    title: "1 instance",
    instances: InstanceCounts::One,
    source: include_str!("crowd.rs"),
    ..Threat::PLAIN
};
