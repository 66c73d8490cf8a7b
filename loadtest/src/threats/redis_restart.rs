//! Redis is killed (SIGKILL) while a purchase is at work, and started again empty. It keeps nothing on disk, so stock,
//! orders and locks are gone. A lock that lies there alone is lost in several phases: before a renewal, after a renewal
//! and right before the write. The round counts only if something was sold before the kill, and the trace shows that the
//! purchase held its lock then.

use stack::ServiceKind;

use super::Threat;
use crate::attack::Injection;
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::{Requirement, servers};
use crate::faults::{hold, restart};
use crate::phase::Phase;
use crate::trace::IncidentKind;

pub(super) const THREAT: Threat = Threat {
    name: "redis-restart",
    title: "Redis restarts empty",
    mostly_waits: true,
    empties_a_store: true,
    is_about: |strategy| servers(strategy).contains(&ServiceKind::Redis),
    phases: |strategy| Phase::of_lock_in(strategy, ServiceKind::Redis),
    load: hold::load,
    requires: |_| vec![Requirement::Service(ServiceKind::Redis)],
    injection: Some(Injection {
        places: hold::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(restart::restart_redis(control, IncidentKind::RestartedEmpty)))
    }),
    source: include_str!("redis_restart.rs"),
    ..Threat::PLAIN
};
