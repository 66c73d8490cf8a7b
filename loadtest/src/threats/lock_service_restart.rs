//! All processes of the service that keeps the locks are killed (SIGKILL) while a purchase is at work, and started
//! again. Independent Redis servers come back empty. ZooKeeper and etcd keep their data on disk: a kill leaves the page
//! cache to the system, so they lose nothing. Independent nodes are struck in two phases, because no lock of theirs is
//! renewed: while the purchase is at work, and right before its write. Then other buyers come. The round counts only if
//! something was sold before the kill, each process is a new one, and the purchase was at work until all served. No
//! other round is played beside it: the processes need the processors to start in that time.

use super::Threat;
use crate::attack::Injection;
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::Requirement;
use crate::faults::hold;
use crate::faults::lock_nodes::{self, Share};

pub(super) const THREAT: Threat = Threat {
    name: "lock-service-restart",
    title: "lock service restarts",
    is_about: |strategy| !lock_nodes::of_strategy(strategy).is_empty(),
    phases: lock_nodes::phases,
    load: hold::load,
    requires: |strategy| {
        let services = lock_nodes::of_strategy(strategy).into_iter();
        services.map(Requirement::Service).collect()
    },
    injection: Some(Injection {
        places: hold::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(lock_nodes::restart(control, Share::All)))
    }),
    source: include_str!("lock_service_restart.rs"),
    ..Threat::PLAIN
};
