//! A purchase that holds a lock of a lock service works on while no message from any instance reaches that service. The
//! silence is longer than a session or a lease lasts. Then the service is reachable again, other buyers come, and the
//! service gives them the lock. The round counts only if messages were held back and the holder worked for longer than
//! the silence.

use std::time::{Duration, Instant};

use anyhow::Result;
use stack::ServiceKind;
use tokio::time::sleep;

use super::Threat;
use crate::attack::{AttackControl, Injection, SendOptions};
use crate::deployment::requirement::{Requirement, lock_servers};
use crate::faults::{hold, relays};
use crate::shop::catalogue::Strategy;
use crate::trace::IncidentKind;

const AT_WORK_AFTER: Duration = Duration::from_millis(500);

/// The time of silence: twice the longest session of the shop that is started here. The holder works for longer.
const SILENT_FOR: Duration = Duration::from_secs(2);

pub(super) const THREAT: Threat = Threat {
    name: "session-expiry",
    title: "session expires",
    mostly_waits: true,
    is_about: |strategy| !lock_services(strategy).is_empty(),
    load: hold::load,
    requires: |strategy| lock_services(strategy).into_iter().map(Requirement::Relay).collect(),
    injection: Some(Injection {
        places: hold::places,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("session_expiry.rs"),
    ..Threat::PLAIN
};

/// Returns whether messages were held back and the holder worked for longer than that.
async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let relays = relays::of_servers(control, lock_services(&control.attack.sale.strategy))?;
    let holder = SendOptions {
        work: Some(hold::HELD_FOR),
        ..SendOptions::default()
    };
    let mut was_silent = false;
    let silence = async {
        sleep(AT_WORK_AFTER).await;
        let silenced = Instant::now();
        for relay in relays.all() {
            relay.silence();
        }
        sleep(SILENT_FOR).await;
        was_silent = relays.prove_affected(control, "held back");
        for relay in relays.all() {
            relay.pass();
        }
        control.note(IncidentKind::Silent, &relays.names(), silenced, Some(Instant::now()));
    };
    let response = hold::with_competitors(control, holder, silence).await?;
    let worked = response.is_some_and(|response| response.ended.duration_since(response.sent) >= hold::HELD_FOR);
    Ok(was_silent && worked)
}

/// Returns the lock services that the strategy uses.
fn lock_services(strategy: &Strategy) -> Vec<ServiceKind> {
    let mut services = lock_servers(strategy);
    services.retain(|kind| matches!(kind, ServiceKind::ZooKeeper | ServiceKind::Etcd));
    services
}
