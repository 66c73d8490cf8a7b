//! A minority of the nodes of a lock service is killed (SIGKILL) while a purchase is at work, and started again: two of
//! five, one of three. Independent Redis nodes come back empty; the servers of an ensemble have their data on disk.
//! Independent nodes are struck in two phases, because no lock of theirs is renewed: while the purchase is at work, and
//! right before its write. Then other buyers come. The round counts only if something was sold before, each of these
//! nodes is a new process, and the purchase was at work until they served; of an ensemble, whose other servers serve on,
//! until they were killed.

use super::Threat;
use crate::attack::Injection;
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::Requirement;
use crate::faults::hold;
use crate::faults::lock_nodes::{self, Share};

pub(super) const THREAT: Threat = Threat {
    name: "minority-restart",
    title: "some lock nodes restart",
    mostly_waits: true,
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
        ..Injection::new(|control| Box::pin(lock_nodes::restart(control, Share::Minority)))
    }),
    source: include_str!("minority_restart.rs"),
    ..Threat::PLAIN
};
