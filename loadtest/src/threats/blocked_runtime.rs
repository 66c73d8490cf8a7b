//! All threads on which an instance carries out purchases are blocked when a purchase is about to write, for longer
//! than any lease. The process runs, but no renewal in it does. Other buyers come meanwhile. The round counts only if
//! the instance answers nobody during that time and the same process answers afterwards.

use super::Threat;
use crate::attack::Injection;
use crate::faults::hold;
use crate::faults::stall::{self, StallBy};

pub(super) const THREAT: Threat = Threat {
    name: "blocked-runtime",
    title: "runtime is blocked",
    mostly_waits: true,
    load: hold::load,
    injection: Some(Injection {
        places: stall::places,
        ..Injection::new(|control| Box::pin(stall::stall_instance(control, StallBy::Block)))
    }),
    source: include_str!("blocked_runtime.rs"),
    ..Threat::PLAIN
};
