//! Redis is killed (SIGKILL) while a purchase is at work, and started again with all its data. For this round it writes
//! every change to its file before it answers (`appendonly yes`, `appendfsync always`), so stock, orders and locks are
//! there. A kill shows that a mechanism survives a restart. It does not show what is on disk: the kernel keeps what was
//! written, so with `appendfsync no` the file would be whole as well. `redis-power-loss` and `redis-power-loss-synced` show
//! that. The round counts only if something was sold before the kill, Redis kept its file, and the trace shows that the
//! purchase held its lock then.

use anyhow::Result;
use stack::ServiceKind;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::{Requirement, servers};
use crate::faults::{hold, restart};
use crate::phase::Phase;
use crate::trace::IncidentKind;

pub(super) const THREAT: Threat = Threat {
    name: "redis-restart-aof",
    title: "Redis restarts from its AOF",
    mostly_waits: true,
    is_about: |strategy| servers(strategy).contains(&ServiceKind::Redis),
    phases: |strategy| Phase::of_kept_lock_in(strategy, ServiceKind::Redis),
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
