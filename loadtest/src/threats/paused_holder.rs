//! An instance stops (SIGSTOP, by itself) when a purchase is about to write. It stands still for longer than any lease,
//! while others buy at the second instance. Then it goes on (SIGCONT) as if no time had passed. The round counts only
//! if the instance answers nobody during that time and the same process answers afterwards.

use super::Threat;
use crate::attack::Injection;
use crate::faults::hold;
use crate::faults::stall::{self, StallBy};

pub(super) const THREAT: Threat = Threat {
    name: "paused-holder",
    title: "holder is paused",
    mostly_waits: true,
    load: hold::load,
    injection: Some(Injection {
        places: stall::places,
        ..Injection::new(|control| Box::pin(stall::stall_instance(control, StallBy::Pause)))
    }),
    source: include_str!("paused_holder.rs"),
    ..Threat::PLAIN
};
