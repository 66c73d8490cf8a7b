//! One instance is cut off from one primary of a Redis Cluster, the one that serves the item, while a purchase is at work there: no
//! message passes between them for longer than a lease lasts. The instance reaches all other nodes, and the other instance reaches
//! every node. A lease ends meanwhile, and is granted at the other instance. Then the messages that were held back arrive, on the
//! same connections: the write of the first purchase, too. The round counts only if messages were held back.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use stack::ServiceKind;
use tokio::sync::SetOnce;
use tokio::time::sleep;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::Requirement;
use crate::faults::{cluster, hold, moment, restart};
use crate::phase::Phase;
use crate::text::counted;
use crate::trace::IncidentKind;

/// The time of silence: twice a lease of the shop that is started here, and shorter than it waits for an answer.
const SILENT_FOR: Duration = Duration::from_secs(2);

/// The business time of the purchase. It ends after its lock and before the silence.
const WORK: Duration = Duration::from_millis(1_900);

pub(super) const THREAT: Threat = Threat {
    name: "node-cut-off",
    title: "instance is cut off from one node",
    mostly_waits: true,
    is_about: cluster::is_used,
    phases: Phase::of_silent_lock,
    load: hold::load,
    requires: |_| vec![Requirement::Relay(ServiceKind::Cluster)],
    injection: Some(Injection {
        places: hold::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("node_cut_off.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let key = cluster::key(control)?;
    let node = restart::on_stores(control, move |stores| stores.cluster_node_of(&key)).await?;
    let parts = control.shop.parts().context("the shop was not started here")?;
    let relays = parts.shop.relays_of(0, ServiceKind::Cluster);
    let relay = relays
        .get(node)
        .context("there is no relay before the node that serves the item")?;
    let is_cut_off = SetOnce::new();
    let cut_off = async {
        relay.silence();
        // This is the only place that sets it.
        let _ = is_cut_off.set(Instant::now());
        Ok(())
    };
    let reconnect = async {
        let from = *is_cut_off.wait().await;
        sleep(SILENT_FOR).await;
        let held_back = relay.affected();
        relay.pass();
        let subject = format!("{} (first instance, one node)", cluster::SUBJECT);
        control.note(IncidentKind::Silent, &subject, from, Some(Instant::now()));
        Ok(held_back)
    };
    let (held_back, ()) = tokio::try_join!(reconnect, moment::lose_lock(control, WORK, cut_off))?;
    if held_back > 0 {
        let messages = counted(held_back as usize, ["message was", "messages were"]);
        let service = ServiceKind::Cluster.process(node + 1, relays.len());
        control.prove(
            &service,
            format!("{messages} held back between it and the first instance"),
        );
    }
    Ok(held_back > 0)
}
