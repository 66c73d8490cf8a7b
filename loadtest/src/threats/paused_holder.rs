//! An instance stops (SIGSTOP, by itself) when a purchase is about to write, for longer than any lease, and goes on (SIGCONT)
//! as if no time had passed, while others buy at the other one. Nobody in it can know, and its buyer is answered.

use super::Threat;
use crate::attack::Injection;
use crate::faults::hold;
use crate::faults::stand_still::{self, Still};

pub(super) const THREAT: Threat = Threat {
    name: "paused-holder",
    title: "holder is paused",
    mostly_waits: true,
    load: hold::load,
    injection: Some(Injection {
        places: hold::places,
        ..Injection::new(|control| Box::pin(stand_still::act(control, Still::Pause)))
    }),
    source: include_str!("paused_holder.rs"),
    ..Threat::PLAIN
};
