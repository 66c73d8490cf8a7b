//! Redis is killed (SIGKILL) while a purchase is at work, and started again empty on a machine whose clock is behind by
//! more than any lease. A counter of fencing tokens that begins with the time of Redis then begins below the tokens
//! that the store has seen. About strategies that keep only their lock in Redis. They lose it in several phases: before
//! a renewal, after a renewal and right before the write. The round counts only if something was sold before the kill
//! and the new process has read its time.

use std::time::Instant;

use anyhow::{Context, Result};
use stack::ServiceKind;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::{Requirement, lock_servers};
use crate::faults::clocks::{Clocks, STEP};
use crate::faults::{hold, restart};
use crate::phase::Phase;
use crate::trace::IncidentKind;

pub(super) const THREAT: Threat = Threat {
    name: "redis-restart-clock-back",
    title: "Redis restarts empty, its clock behind",
    mostly_waits: true,
    empties_a_store: true,
    is_about: |strategy| lock_servers(strategy).contains(&ServiceKind::Redis),
    phases: |strategy| Phase::of_lock_in(strategy, ServiceKind::Redis),
    load: hold::load,
    requires: |_| vec![Requirement::Service(ServiceKind::Redis), Requirement::Clocks],
    injection: Some(Injection {
        places: hold::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("redis_restart_clock_back.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let has_begun = restart::play_first_wave(control).await;
    let restarted = restart::act_during_purchase(control, |stores| {
        let redis = stores.redis().context("Redis was not started here")?;
        let clock = redis.clock().context("Redis has no clock of its own")?;
        let killed = Instant::now();
        redis.kill()?;
        clock.step_back(STEP)?;
        let proofs = restart::restart_service(stores, ServiceKind::Redis)?;
        Ok((killed, Instant::now(), proofs))
    });
    let (killed, back, proofs) = restarted.await?;
    control.keep_proofs(proofs);
    control.note(IncidentKind::RestartedEmpty, "Redis", killed, Some(back));
    control.note(IncidentKind::ClockBack, "Redis", killed, None);
    let parts = control.shop.parts().context("the shop was not started here")?;
    let redis = parts.stores.redis();
    let clock = Clocks::of(redis.map(|redis| (redis.name().to_owned(), redis)));
    Ok(clock.prove(control, "stepped back")? && has_begun)
}
