//! Redis fails over to a replica that lacks the latest changes. The replica is cut off and promoted. The old Redis goes
//! on serving until it is killed (SIGKILL) while a purchase is at work. Then the replica takes over its address,
//! without any change of stock, orders and locks since the cut. A lock that lies there alone is lost in several phases:
//! before a renewal, after a renewal and right before the write. The round counts only if changes were lost, and the
//! trace shows that the purchase held its lock when the old Redis was killed.

use std::time::{Duration, Instant};

use anyhow::Result;
use stack::ServiceKind;
use tokio::time::sleep;

use super::Threat;
use crate::attack::{AttackControl, Injection, SendOptions};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::{Requirement, servers};
use crate::faults::{hold, restart};
use crate::phase::Phase;
use crate::trace::IncidentKind;

/// The time for which both serve: longer than a lease of the shop that is started here.
const PARTITION: Duration = Duration::from_millis(1_200);

pub(super) const THREAT: Threat = Threat {
    name: "redis-failover",
    title: "Redis fails over",
    mostly_waits: true,
    empties_a_store: true,
    is_about: |strategy| servers(strategy).contains(&ServiceKind::Redis),
    phases: |strategy| Phase::of_lock_in(strategy, ServiceKind::Redis),
    load: hold::load,
    requires: |_| vec![Requirement::Replica(ServiceKind::Redis)],
    injection: Some(Injection {
        places: hold::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("redis_failover.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let replica = restart::on_stores(control, stack::Stores::replicate_redis).await?;
    let has_begun = restart::play_first_wave(control).await;
    let failover = restart::on_stores(control, |_| replica.partition()).await?;
    control.note(IncidentKind::CutOff, "Redis", Instant::now(), None);
    // The promoted replica lacks this whole sale, and every lease that it knows has ended.
    let (sold, ()) = tokio::join!(control.send(0, SendOptions::default()), sleep(PARTITION));
    sold?;
    let (lost, killed, back) = restart::act_during_purchase(control, |stores| {
        let killed = Instant::now();
        Ok((stores.fail_over_redis(failover)?, killed, Instant::now()))
    })
    .await?;
    control.prove(
        "redis",
        format!("the replica that took its place lacks {lost} bytes of writes"),
    );
    control.note(IncidentKind::FailedOver, "Redis", killed, Some(back));
    Ok(has_begun && lost > 0)
}
