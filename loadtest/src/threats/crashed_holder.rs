//! An instance is killed (SIGKILL, by itself) in the middle of a sale, while others buy: before the write, or at the step
//! that its strategy calls its weakest. It comes back at once; what it held does not come back by itself.

use super::Threat;
use crate::attack::Injection;
use crate::audit::ExplainedUnknowns;
use crate::faults::crash;

pub(super) const THREAT: Threat = Threat {
    name: "crashed-holder",
    title: "holder crashes",
    mostly_waits: true,
    load: |asked, _| asked.two_waves(),
    injection: Some(Injection {
        places: crash::places,
        explains: ExplainedUnknowns::FromDeadInstance,
        ..Injection::new(|control| Box::pin(crash::act(control, &control.attack.sale.strategy.weak_at)))
    }),
    source: include_str!("crashed_holder.rs"),
    ..Threat::PLAIN
};
