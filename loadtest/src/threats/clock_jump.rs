//! While a purchase is at work at the first instance, the clocks of the second instance and of both stores jump ahead
//! by more than any lease. Then other buyers come. A store that ends leases by its clock ends them now. The round
//! counts only if all three processes have read a time that is ahead.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use stack::Clock;
use tokio::time::sleep;

use super::Threat;
use crate::attack::{AttackControl, Injection, SendOptions};
use crate::deployment::requirement::Requirement;
use crate::faults::hold;
use crate::trace::IncidentKind;

/// The distance of the jump: three leases of the shop that is started here.
const JUMP: Duration = Duration::from_secs(3);

/// The business time of the purchase: well below a lease, so that a lock ends only by a clock.
const WORK: Duration = Duration::from_millis(800);

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

/// Returns whether each process read a time that was ahead.
async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let local_processes = control
        .shop
        .local_processes()
        .context("the shop was not started here")?;
    let second = local_processes.shop.instances().get(1);
    let all: Vec<(&str, &Clock)> = [second, local_processes.stores.redis(), local_processes.stores.mariadb()]
        .into_iter()
        .flatten()
        .filter_map(|process| Some((process.name(), process.clock()?)))
        .collect();
    let holder = SendOptions {
        work: Some(WORK),
        ..SendOptions::default()
    };
    let mut jumped = Ok(());
    let jump = async {
        sleep(AT_WORK_AFTER).await;
        control.note(
            IncidentKind::ClockAhead,
            "the second instance, Redis and MariaDB",
            Instant::now(),
            None,
        );
        jumped = all.iter().try_for_each(|(_, clock)| clock.run_ahead(JUMP));
    };
    hold::with_competitors(control, holder, jump).await?;
    jumped?;
    let readings = all.iter().map(|(_, clock)| clock.told()).collect::<Result<Vec<_>>>()?;
    for ((process, _), times) in all.iter().zip(&readings).filter(|(_, times)| **times > 0) {
        control.prove(process, format!("it read a time that was {JUMP:?} ahead {times} times"));
    }
    Ok(readings.len() == 3 && readings.iter().all(|reading| *reading > 0))
}
