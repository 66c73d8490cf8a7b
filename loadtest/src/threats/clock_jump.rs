//! While a purchase is at work at the first instance, the clock of the second one and those of the stores jump ahead, by
//! more than any lease; then others buy. A store that ends leases by its clock ends them then.

use std::time::Duration;

use anyhow::{Context, Result};
use stack::{Clock, Service};
use tokio::time::sleep;

use super::Threat;
use crate::attack::{AttackControl, Injection, SendOptions};
use crate::deployment::requirement::Requirement;
use crate::faults::hold;

/// How far they jump: three leases of our own shop.
const JUMP: Duration = Duration::from_secs(3);

/// How long the purchase works: well below a lease, so that no lock ends but by a clock.
const WORK: Duration = Duration::from_millis(800);

/// When it is at work.
const AT_WORK_AFTER: Duration = Duration::from_millis(300);

pub(super) const THREAT: Threat = Threat {
    name: "clock-jump",
    title: "clocks jump",
    mostly_waits: true,
    load: hold::load,
    requires: |_| vec![Requirement::Clocks],
    injection: Some(Injection {
        places: hold::places,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("clock_jump.rs"),
    ..Threat::PLAIN
};

/// It struck where each of them told a time that was ahead.
async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let local_processes = control.shop.local_processes().context("the shop is not ours")?;
    let second = local_processes.shop.instances().get(1);
    let all: Vec<&Clock> = [second, local_processes.stores.redis(), local_processes.stores.mariadb()]
        .into_iter()
        .flatten()
        .filter_map(Service::clock)
        .collect();
    let holder = SendOptions {
        work: Some(WORK),
        ..SendOptions::default()
    };
    let mut jumped = Ok(());
    let jump = async {
        sleep(AT_WORK_AFTER).await;
        jumped = all.iter().try_for_each(|clock| clock.run_ahead(JUMP));
    };
    hold::up(control, holder, jump).await?;
    jumped?;
    let responses = all.iter().map(|clock| clock.told()).collect::<Result<Vec<_>>>()?;
    Ok(responses.len() == 3 && responses.iter().all(|responses| *responses > 0))
}
