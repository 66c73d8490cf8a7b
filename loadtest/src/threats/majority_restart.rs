//! A majority of the nodes of a lock service is killed (SIGKILL) while a purchase is at work, and started again: three
//! of five, two of three. Independent Redis nodes come back empty, and are enough to grant the lock a second time; the
//! servers of an ensemble have their data on disk. Independent nodes are struck in two phases, because no lock of
//! theirs is renewed: while the purchase is at work, and right before its write. The round counts only if something was
//! sold before, each of these nodes is a new process, and the purchase was at work until they served. No other round is
//! played beside it: the processes need the processors to start in that time.

use super::Threat;
use crate::attack::Injection;
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::Requirement;
use crate::faults::hold;
use crate::faults::lock_nodes::{self, Share};

pub(super) const THREAT: Threat = Threat {
    name: "majority-restart",
    title: "most lock nodes restart",
    is_about: |strategy| !lock_nodes::of_strategy(strategy).is_empty(),
    phases: lock_nodes::phases,
    load: hold::load,
    requires: |strategy| {
        let services = lock_nodes::of_strategy(strategy).into_iter();
        services.map(Requirement::Ensemble).collect()
    },
    injection: Some(Injection {
        places: hold::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(lock_nodes::restart(control, Share::Majority)))
    }),
    source: include_str!("majority_restart.rs"),
    ..Threat::PLAIN
};
