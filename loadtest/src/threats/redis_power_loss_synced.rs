//! Redis loses power as in `redis-power-loss`, and syncs every change before it answers (`appendfsync always`): all that
//! it confirmed is there when it is back. Both rounds differ in that setting alone. The round counts only if Redis synced
//! something after the last sale before the loss had begun.

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
    name: "redis-power-loss-synced",
    title: "Redis that syncs always loses power",
    mostly_waits: true,
    is_about: |strategy| servers(strategy).contains(&ServiceKind::Redis),
    phases: |strategy| Phase::of_kept_lock_in(strategy, ServiceKind::Redis),
    load: hold::load,
    requires: |_| vec![Requirement::Journal(ServiceKind::Redis)],
    injection: Some(Injection {
        places: power_loss::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("redis_power_loss_synced.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    restart::on_stores(control, |stores| stores.keep_redis_on_disk(true)).await?;
    power_loss::prepare(control, ServiceKind::Redis).await?;
    let has_struck = power_loss::strike(control, ServiceKind::Redis, Syncs::Before).await?;
    restart::on_stores(control, |stores| stores.keep_redis_on_disk(false)).await?;
    Ok(has_struck)
}
