//! The primary of a Redis Cluster that serves the item dies (SIGKILL) while a purchase is at work, and the other nodes elect its
//! replica. Replication is asynchronous: for a while before, nothing reaches the replica, so it lacks the latest purchases, of which
//! the buyers were told. Until the election no node serves the item. The dead node comes back as the replica of the new primary. The
//! round counts only if another process serves the item since, and lacks writes that the dead one had made.

use std::time::{Duration, Instant};

use anyhow::Result;
use stack::ServiceKind;
use tokio::time::sleep;

use super::Threat;
use crate::attack::{AttackControl, Injection, SendOptions};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::Requirement;
use crate::faults::{cluster, hold, restart};
use crate::phase::Phase;
use crate::trace::IncidentKind;

/// The time for which the replica gets nothing: longer than a lease of the shop that is started here.
const PARTITION: Duration = Duration::from_millis(1_200);

pub(super) const THREAT: Threat = Threat {
    name: "cluster-failover",
    title: "Redis Cluster fails over",
    mostly_waits: true,
    empties_a_store: true,
    is_about: cluster::is_used,
    phases: |strategy| Phase::of_lock_in(strategy, ServiceKind::Cluster),
    load: hold::load,
    requires: |_| vec![Requirement::Service(ServiceKind::Cluster)],
    injection: Some(Injection {
        places: hold::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("cluster_failover.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let has_begun = restart::play_first_wave(control).await;
    let key = cluster::key(control)?;
    let partition = restart::on_stores(control, move |stores| stores.cut_off_cluster_replica(&key)).await?;
    control.note(IncidentKind::CutOff, cluster::SUBJECT, Instant::now(), None);
    let (sold, ()) = tokio::join!(control.send(0, SendOptions::default()), sleep(PARTITION));
    sold?;
    let (failover, killed, back) = restart::act_during_purchase(control, |stores| {
        let killed = Instant::now();
        Ok((stores.fail_over_cluster(partition)?, killed, Instant::now()))
    })
    .await?;
    control.note(IncidentKind::FailedOver, cluster::SUBJECT, killed, Some(back));
    let stack::ClusterFailover { killed, serves, lost } = failover;
    let proof = format!("process {killed} was killed, and its replica, process {serves}, lacks {lost} bytes of writes");
    control.prove(ServiceKind::Cluster.name(), proof);
    Ok(has_begun && lost > 0)
}
