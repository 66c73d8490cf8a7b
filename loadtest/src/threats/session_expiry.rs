//! The lock service hears nothing from any instance for longer than a session or a lease of it lasts, while a purchase that
//! holds a lock there works on; then others come, and are given the lock.

use std::time::Duration;

use anyhow::Result;
use stack::ServerKind;
use tokio::time::sleep;

use super::Threat;
use crate::attack::{AttackControl, Injection, SendOptions};
use crate::deployment::requirement::Requirement;
use crate::faults::{hold, relays};
use crate::shop::catalogue::Strategy;

/// When the holder is at work.
const AT_WORK_AFTER: Duration = Duration::from_millis(500);

/// How long the service hears nothing: twice the longest session of our own shop. The holder works for longer.
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

/// Whoever renews was heard by nobody, and the holder worked longer than that.
async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let relays = relays::before(control, lock_services(&control.attack.sale.strategy))?;
    let holder = SendOptions {
        work: Some(hold::LASTS),
        ..SendOptions::default()
    };
    let mut was_unheard = false;
    let silence = async {
        sleep(AT_WORK_AFTER).await;
        for relay in relays.all() {
            relay.silence();
        }
        sleep(SILENT_FOR).await;
        was_unheard = relays.any_affected();
        for relay in relays.all() {
            relay.pass();
        }
    };
    let response = hold::up(control, holder, silence).await?;
    let worked = response.is_some_and(|response| response.ended.duration_since(response.sent) >= hold::LASTS);
    Ok(was_unheard && worked)
}

/// What the strategy locks by, where that is no store.
fn lock_services(strategy: &Strategy) -> Vec<ServerKind> {
    let services = [(ServerKind::ZooKeeper, "zookeeper"), (ServerKind::Etcd, "etcd")];
    let used = services
        .into_iter()
        .filter(|(_, name)| strategy.needs.iter().any(|need| need == name));
    used.map(|(kind, _)| kind).collect()
}
