//! A purchase that holds a lock of a lock service works on while no message from any instance reaches that service. The
//! silence is longer than a session or a lease lasts. Then the service is reachable again, other buyers come, and the
//! service gives them the lock. The session ends in two phases: while the holder is at work, so that it may ask for its
//! lock before it writes, and right before the write. The round counts only if messages were held back, and the trace
//! shows that the holder had its lock before the silence and wrote after it.

use std::time::{Duration, Instant};

use anyhow::Result;
use stack::{Relay, ServiceKind};
use tokio::time::sleep;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::deployment::requirement::{Requirement, lock_servers};
use crate::faults::{hold, moment, relays};
use crate::phase::Phase;
use crate::shop::catalogue::Strategy;
use crate::trace::IncidentKind;

/// The time of silence: twice the longest session of the shop that is started here. The holder works for longer.
const SILENT_FOR: Duration = Duration::from_secs(2);

pub(super) const THREAT: Threat = Threat {
    name: "session-expiry",
    title: "session expires",
    mostly_waits: true,
    is_about: |strategy| !lock_services(strategy).is_empty(),
    phases: Phase::of_silent_lock,
    load: hold::load,
    requires: |strategy| lock_services(strategy).into_iter().map(Requirement::Relay).collect(),
    injection: Some(Injection {
        places: hold::places,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("session_expiry.rs"),
    ..Threat::PLAIN
};

/// Returns whether messages were held back.
async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let relays = relays::of_servers(control, lock_services(&control.attack.sale.strategy))?;
    let silence = async {
        let silenced = Instant::now();
        relays.all().for_each(Relay::silence);
        sleep(SILENT_FOR).await;
        let was_silent = relays.prove_affected(control, "held back");
        relays.all().for_each(Relay::pass);
        control.note(IncidentKind::Silent, &relays.names(), silenced, Some(Instant::now()));
        Ok(was_silent)
    };
    moment::lose_lock(control, hold::HELD_FOR, silence).await
}

/// Returns the lock services that the strategy uses.
fn lock_services(strategy: &Strategy) -> Vec<ServiceKind> {
    let mut services = lock_servers(strategy);
    services.retain(|kind| matches!(kind, ServiceKind::ZooKeeper | ServiceKind::Etcd));
    services
}
