//! While a purchase is at work at the first instance, the clocks of a majority of the lock nodes jump ahead by more
//! than any lease: three of five. Each of them ends the lock that it has granted. Then other buyers come, and these
//! nodes are enough to grant it a second time. This happens in two phases: at work, and right before the write. The
//! round counts only if each of these nodes has read its time afterwards.

use stack::ServiceKind;

use super::Threat;
use crate::attack::Injection;
use crate::deployment::requirement::{Requirement, lock_servers};
use crate::faults::hold;
use crate::faults::lock_nodes::{self, Share};

pub(super) const THREAT: Threat = Threat {
    name: "majority-clock-jump",
    title: "clocks of most lock nodes jump",
    mostly_waits: true,
    is_about: |strategy| lock_servers(strategy).contains(&ServiceKind::RedisNodes),
    phases: lock_nodes::phases,
    load: hold::load,
    requires: |_| vec![Requirement::Service(ServiceKind::RedisNodes), Requirement::Clocks],
    injection: Some(Injection {
        places: hold::places,
        ..Injection::new(|control| Box::pin(lock_nodes::jump_ahead(control, Share::Majority)))
    }),
    source: include_str!("majority_clock_jump.rs"),
    ..Threat::PLAIN
};
