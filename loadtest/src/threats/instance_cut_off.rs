//! One instance is cut off from the service of its lock while a purchase is at work there: no message passes between
//! them for longer than a lease or a session lasts. It still reaches the store of stock and orders, and the other
//! instance reaches everything. The service ends the lock and grants it at the other instance. The first purchase
//! writes while it is cut off: it can neither renew its lock nor ask for it. This happens in two phases: while it is at
//! work, and right before its write, after every check of its own. The round counts only if messages were held back,
//! and the trace shows that the purchase had its lock before, and that others asked for the lock before it wrote.

use std::time::{Duration, Instant};

use anyhow::Result;
use stack::{Relay, ServiceKind};
use tokio::sync::SetOnce;
use tokio::time::sleep;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::{Requirement, lock_servers};
use crate::faults::{hold, moment, relays};
use crate::phase::Phase;
use crate::shop::catalogue::Strategy;
use crate::trace::IncidentKind;

/// The time of silence: twice a lease or a session of the shop that is started here.
const SILENT_FOR: Duration = Duration::from_secs(2);

/// The business time of the purchase. It ends after its lock and before the silence.
const WORK: Duration = Duration::from_millis(1_900);

pub(super) const THREAT: Threat = Threat {
    name: "instance-cut-off",
    title: "instance is cut off from its lock",
    mostly_waits: true,
    is_about: |strategy| !lock_services(strategy).is_empty(),
    phases: Phase::of_silent_lock,
    load: hold::load,
    requires: |strategy| lock_services(strategy).into_iter().map(Requirement::Relay).collect(),
    injection: Some(Injection {
        places: hold::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("instance_cut_off.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let relays = relays::of_servers(control, lock_services(&control.attack.sale.strategy))?;
    let is_cut_off = SetOnce::new();
    let cut_off = async {
        relays.of_first_instance().for_each(Relay::silence);
        // This is the only place that sets it.
        let _ = is_cut_off.set(Instant::now());
        Ok(())
    };
    let reconnect = async {
        let from = *is_cut_off.wait().await;
        sleep(SILENT_FOR).await;
        let was_silent = relays.prove_affected(control, "held back");
        relays.all().for_each(Relay::pass);
        let subject = format!("{} (first instance)", relays.names());
        control.note(IncidentKind::Silent, &subject, from, Some(Instant::now()));
        Ok(was_silent)
    };
    let (was_silent, ()) = tokio::try_join!(reconnect, moment::lose_lock(control, WORK, cut_off))?;
    Ok(was_silent)
}

/// Returns the services that hold only its lock. A second database holds its orders.
fn lock_services(strategy: &Strategy) -> Vec<ServiceKind> {
    let mut services = lock_servers(strategy);
    services.retain(|kind| *kind != ServiceKind::SecondSql);
    services
}
