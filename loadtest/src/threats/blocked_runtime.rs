//! Every thread on which an instance carries out purchases is blocked when one of them is about to write, for longer than any
//! lease, as by a call that does not yield: the process runs, and no renewal in it does.

use super::Threat;
use crate::attack::Injection;
use crate::faults::hold;
use crate::faults::stand_still::{self, Still};

pub(super) const THREAT: Threat = Threat {
    name: "blocked-runtime",
    title: "runtime is blocked",
    mostly_waits: true,
    load: hold::load,
    injection: Some(Injection {
        places: hold::places,
        ..Injection::new(|control| Box::pin(stand_still::act(control, Still::Block)))
    }),
    source: include_str!("blocked_runtime.rs"),
    ..Threat::PLAIN
};
