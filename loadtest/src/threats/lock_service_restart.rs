//! All processes of the service that keeps the locks are killed (SIGKILL) while a purchase is at work, and started again.
//! Independent Redis servers come back empty. ZooKeeper and etcd keep their data on disk: a kill leaves the page cache to
//! the system, so they lose nothing. Then other buyers come. The round counts only if something was sold before the kill.

use std::time::{Duration, Instant};

use anyhow::Result;
use stack::ServiceKind;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::{Requirement, lock_servers};
use crate::faults::{hold, restart};
use crate::shop::catalogue::Strategy;
use crate::trace::IncidentKind;

/// The business time of the purchase where the service is back within some milliseconds: below a lease.
const SHORT_WORK: Duration = Duration::from_millis(600);

/// The business time where the service has to elect a leader first: the shop lets no purchase work longer than five
/// seconds.
const LONG_WORK: Duration = Duration::from_millis(4_800);

pub(super) const THREAT: Threat = Threat {
    name: "lock-service-restart",
    title: "lock service restarts",
    mostly_waits: true,
    is_about: |strategy| !lock_services(strategy).is_empty(),
    load: hold::load,
    requires: |strategy| lock_services(strategy).into_iter().map(Requirement::Service).collect(),
    injection: Some(Injection {
        places: hold::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("lock_service_restart.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let has_begun = restart::play_first_wave(control).await;
    for kind in lock_services(&control.attack.sale.strategy) {
        let (work, incident) = match kind {
            ServiceKind::RedisNodes => (SHORT_WORK, IncidentKind::RestartedEmpty),
            _ => (LONG_WORK, IncidentKind::Restarted),
        };
        let restarted = restart::act_during_purchase_of(control, work, move |stores| {
            let killed = Instant::now();
            let proofs = restart::restart_service(stores, kind)?;
            Ok((killed, Instant::now(), proofs))
        });
        let (killed, back, proofs) = restarted.await?;
        control.keep_proofs(proofs);
        control.note(incident, &kind.to_string(), killed, Some(back));
    }
    Ok(has_begun)
}

/// Returns the services that keep only locks, but for the stores of every shop, whose restarts are other threats.
fn lock_services(strategy: &Strategy) -> Vec<ServiceKind> {
    let mut services = lock_servers(strategy);
    services.retain(|kind| {
        matches!(
            kind,
            ServiceKind::RedisNodes | ServiceKind::ZooKeeper | ServiceKind::Etcd
        )
    });
    services
}
