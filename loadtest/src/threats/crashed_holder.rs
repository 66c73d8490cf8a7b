//! An instance is killed (SIGKILL, by itself) while others buy: before the write, or at the step that its strategy
//! calls its weakest. The instance is started again for the second wave, but a lock that it held is not released by
//! that. The round counts only if the process has died and its buyer got no response.

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
        ..Injection::new(|control| Box::pin(crash::crash_at(control, &control.attack.sale.strategy.weak_at)))
    }),
    source: include_str!("crashed_holder.rs"),
    ..Threat::PLAIN
};
