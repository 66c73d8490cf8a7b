//! Redis loses power while a purchase is at work, and restarts from its append-only file. It syncs that once in a second
//! (`appendfsync everysec`, the default of Redis), so up to a second of confirmed sales, and of locks, is gone.
//! Power is lost as `stack::Unsynced` describes: the process is killed, and all that it wrote and did not sync is undone.
//! A lock that lies there alone is lost in several phases: before a renewal, after a renewal and right before the write.
//! The round counts only if the last confirmed sale before the loss, and the lock of the purchase at work, were not synced.

use anyhow::Result;
use stack::ServiceKind;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::{Requirement, servers};
use crate::faults::power_loss::{self, Syncs};
use crate::faults::{hold, restart};
use crate::phase::Phase;

pub(super) const THREAT: Threat = Threat {
    name: "redis-power-loss",
    title: "Redis loses power",
    mostly_waits: true,
    empties_a_store: true,
    is_about: |strategy| servers(strategy).contains(&ServiceKind::Redis),
    phases: |strategy| Phase::of_lock_in(strategy, ServiceKind::Redis),
    load: hold::load,
    requires: |_| vec![Requirement::Journal(ServiceKind::Redis)],
    injection: Some(Injection {
        places: power_loss::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("redis_power_loss.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    restart::on_stores(control, |stores| stores.keep_redis_on_disk(true)).await?;
    power_loss::prepare(control, ServiceKind::Redis).await?;
    restart::on_stores(control, stack::Stores::sync_redis_every_second).await?;
    let has_struck = power_loss::strike(control, ServiceKind::Redis, Syncs::Later).await?;
    restart::on_stores(control, |stores| stores.keep_redis_on_disk(false)).await?;
    Ok(has_struck)
}
