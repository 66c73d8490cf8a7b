//! Redis is killed (SIGKILL) while a purchase is at work, and started again with all its data. For this round it writes
//! every change to disk before it answers (`appendonly yes`, `appendfsync always`), so stock, orders and locks are
//! there. The round counts only if something was sold before the kill and Redis wrote to disk.

use anyhow::Result;
use stack::ServiceKind;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::{Requirement, servers};
use crate::faults::{hold, restart};
use crate::trace::IncidentKind;

pub(super) const THREAT: Threat = Threat {
    name: "redis-restart-aof",
    title: "Redis restarts from its AOF",
    mostly_waits: true,
    is_about: |strategy| servers(strategy).contains(&ServiceKind::Redis),
    load: hold::load,
    requires: |_| vec![Requirement::Service(ServiceKind::Redis)],
    injection: Some(Injection {
        places: hold::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("redis_restart_aof.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    restart::on_stores(control, |stores| stores.keep_redis_on_disk(true)).await?;
    let has_begun = restart::restart_redis(control, IncidentKind::Restarted).await?;
    // Other threats need a Redis that keeps nothing on disk. This one has read its file by now, and keeps its data in
    // memory.
    let kept = restart::on_stores(control, |stores| stores.keep_redis_on_disk(false)).await?;
    Ok(has_begun && kept)
}
