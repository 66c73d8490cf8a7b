//! The slot of the item moves to another primary of a Redis Cluster in the middle of the sale, as when a cluster grows. Its keys move
//! one by one. Until the last step the old node still serves the slot, and sends a client after each key that has moved (ASK); a
//! command about several keys is refused while some of them are elsewhere (TRYAGAIN). After it the old node sends every client to the
//! new one (MOVED). Nothing is lost, locks included. The round counts only if keys moved, and clients were sent after them.

use std::time::{Duration, Instant};

use anyhow::Result;
use stack::ServiceKind;
use tokio::time::sleep;

use super::Threat;
use crate::attack::{AttackControl, Injection, SendOptions};
use crate::deployment::requirement::Requirement;
use crate::faults::{cluster, hold, restart};
use crate::text::counted;
use crate::trace::IncidentKind;

/// The time between the move of the keys and that of the slot. In it a lock that needs several keys at once cannot be taken.
const BETWEEN: Duration = Duration::from_millis(300);

/// The place of the buyer that buys before the slot moves.
const FIRST: usize = 0;

pub(super) const THREAT: Threat = Threat {
    name: "slot-migration",
    title: "slot moves to another node",
    mostly_waits: true,
    is_about: cluster::is_used,
    load: hold::load,
    requires: |_| vec![Requirement::Service(ServiceKind::Cluster)],
    injection: Some(Injection {
        places: |_| vec![FIRST],
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("slot_migration.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    control.send(FIRST, SendOptions::default()).await?;
    let key = cluster::key(control)?;
    let begun = Instant::now();
    let migration = restart::on_stores(control, move |stores| stores.begin_slot_migration(&key)).await?;
    let keys = migration.keys;
    let end = async {
        sleep(BETWEEN).await;
        restart::on_stores(control, |stores| stores.end_slot_migration(migration)).await
    };
    let (has_begun, redirected) = tokio::join!(restart::play_first_wave(control), end);
    let ended = Instant::now();
    // A crowd that had its answers before the last step is followed by one that comes after it.
    control.send(FIRST, SendOptions::default()).await?;
    let redirected = redirected?;
    control.note(IncidentKind::SlotMoved, cluster::SUBJECT, begun, Some(ended));
    let [keys_moved, commands] = [
        counted(keys as usize, ["key", "keys"]),
        counted(redirected as usize, ["command was", "commands were"]),
    ];
    let proof = format!("{keys_moved} moved before the first buyers of the crowd, and {commands} sent to another node");
    control.prove(ServiceKind::Cluster.name(), proof);
    Ok(has_begun && keys > 0 && redirected > 0)
}
