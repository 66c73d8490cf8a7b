//! While a purchase is at work at the first instance, the clocks of a minority of the lock nodes jump ahead by more
//! than any lease: two of five. Each of them ends the lock that it has granted. Then other buyers come. They find the
//! lock at all other nodes, which are a majority, if the purchase has it there. This happens in two phases: at work,
//! and right before the write. The round counts only if each of these nodes has read its time afterwards.

use stack::ServiceKind;

use super::Threat;
use crate::attack::Injection;
use crate::deployment::requirement::{Requirement, lock_servers};
use crate::faults::hold;
use crate::faults::lock_nodes::{self, Share};

pub(super) const THREAT: Threat = Threat {
    name: "minority-clock-jump",
    title: "clocks of some lock nodes jump",
    mostly_waits: true,
    is_about: |strategy| lock_servers(strategy).contains(&ServiceKind::RedisNodes),
    phases: lock_nodes::phases,
    load: hold::load,
    requires: |_| vec![Requirement::Service(ServiceKind::RedisNodes), Requirement::Clocks],
    injection: Some(Injection {
        places: hold::places,
        ..Injection::new(|control| Box::pin(lock_nodes::jump_ahead(control, Share::Minority)))
    }),
    source: include_str!("minority_clock_jump.rs"),
    ..Threat::PLAIN
};
