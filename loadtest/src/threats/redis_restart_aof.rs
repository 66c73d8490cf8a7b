//! Redis is killed (SIGKILL) while a purchase is at work, and started again with everything it knew, stock, orders and locks:
//! for this round it writes all of it to disk before it answers (`appendonly yes`, `appendfsync always`).

use anyhow::Result;
use stack::ServerKind;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::{Requirement, servers};
use crate::faults::{hold, restart};

pub(super) const THREAT: Threat = Threat {
    name: "redis-restart-aof",
    title: "Redis restarts from its AOF",
    mostly_waits: true,
    is_about: |strategy| servers(strategy).contains(&ServerKind::Redis),
    load: hold::load,
    requires: |_| vec![Requirement::Service(ServerKind::Redis)],
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
    let has_begun = restart::redis(control).await?;
    // Other threats need a Redis that forgets; this one has come back by now, and keeps in memory what it has read.
    let kept = restart::on_stores(control, |stores| stores.keep_redis_on_disk(false)).await?;
    Ok(has_begun && kept)
}
