//! Many buyers come at once to one instance. Nothing breaks. A lock inside the process is enough here.

use super::{InstanceCounts, Threat};

pub(super) const THREAT: Threat = Threat {
    name: "crowd",
    title: "1 instance",
    instances: InstanceCounts::One,
    source: include_str!("crowd.rs"),
    ..Threat::PLAIN
};
