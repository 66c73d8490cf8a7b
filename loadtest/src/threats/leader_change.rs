//! The leader of the ensemble that keeps the lock is killed (SIGKILL) while a purchase is at work for longer than a
//! session or a lease lasts. The other servers elect a new leader, and other buyers come. Then the old one is started
//! again with the data on its disk. The sessions and leases are the ensemble's: they outlive its leader. The round
//! counts only if another server leads after the kill and the purchase was at work until then.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use stack::ServiceKind;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::{Requirement, lock_servers};
use crate::faults::{hold, leader, restart};
use crate::shop::catalogue::Strategy;
use crate::trace::IncidentKind;

/// The business time of the purchase: longer than a session or a lease of the shop that is started here.
const WORK: Duration = Duration::from_secs(2);

pub(super) const THREAT: Threat = Threat {
    name: "leader-change",
    title: "leader changes",
    mostly_waits: true,
    is_about: |strategy| !ensembles(strategy).is_empty(),
    load: hold::load,
    requires: |strategy| ensembles(strategy).into_iter().map(Requirement::Ensemble).collect(),
    injection: Some(Injection {
        places: hold::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("leader_change.rs"),
    ..Threat::PLAIN
};

/// Returns the services of its lock that elect a leader.
fn ensembles(strategy: &Strategy) -> Vec<ServiceKind> {
    let mut services = lock_servers(strategy);
    services.retain(|kind| matches!(kind, ServiceKind::ZooKeeper | ServiceKind::Etcd));
    services
}

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let has_begun = restart::play_first_wave(control).await;
    let mut was_at_work = true;
    for kind in ensembles(&control.attack.sale.strategy) {
        was_at_work &= change_leader(control, kind).await?;
    }
    Ok(has_begun && was_at_work)
}

/// Returns whether the purchase was at work until another server led.
async fn change_leader(control: &AttackControl<'_>, kind: ServiceKind) -> Result<bool> {
    let parts = control.shop.parts().context("the shop was not started here")?;
    let stores = &parts.stores;
    let processes = stores.processes(kind);
    let name = |place: usize| kind.process(place + 1, processes.len());
    let before = leader::elected(stores, kind, None).await?;
    let old = processes.get(before).context("the leader has no process")?;
    let change = async {
        let (killed, pid) = (Instant::now(), old.pid());
        old.kill()?;
        let after = leader::elected(stores, kind, Some(before)).await?;
        Ok((after, killed, pid, Instant::now()))
    };
    let changed = hold::strike_at_work(control, WORK, change).await?;
    restart::on_stores(control, move |stores| {
        let old = stores
            .processes(kind)
            .get(before)
            .context("the leader has no process")?;
        old.restart()?;
        old.wait_ready(restart::READY_WITHIN)
    })
    .await?;
    let Some((after, killed, pid, leads)) = changed else {
        return Ok(false);
    };
    control.note(IncidentKind::Restarted, &name(before), killed, Some(Instant::now()));
    let election = leads.duration_since(killed);
    control.prove(
        &name(before),
        format!("it led the ensemble, and its process {pid} was killed"),
    );
    control.prove(
        &name(after),
        format!("it led the ensemble {} ms after that", election.as_millis()),
    );
    Ok(true)
}
