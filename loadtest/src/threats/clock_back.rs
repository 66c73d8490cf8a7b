//! While a purchase is at work at the first instance, the clocks of the second instance, and of each store
//! that the strategy uses, step back by more than any lease. A lease that ends by such a clock lasts longer, and an end
//! that the second instance writes down by its own clock has passed for the first one. Other buyers come, and then
//! again while a purchase is at work at the second instance. The round counts only if each of these processes has read
//! its time after the step.

use std::time::Instant;

use anyhow::Result;
use tokio::time::sleep;

use super::Threat;
use crate::attack::{AttackControl, Injection, SendOptions};
use crate::faults::clocks::{self, Clocks};
use crate::faults::hold;
use crate::trace::IncidentKind;

/// The place of the second instance, and that of the first one.
const SECOND_FIRST: [usize; 2] = [1, 0];

pub(super) const THREAT: Threat = Threat {
    name: "clock-back",
    title: "clocks step back",
    mostly_waits: true,
    load: hold::load,
    requires: clocks::requirements,
    injection: Some(Injection {
        places: hold::places,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("clock_back.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let clocks = Clocks::beside_the_first_instance(control)?;
    let step = async {
        control.note(IncidentKind::ClockBack, &clocks.names(), Instant::now(), None);
        clocks.step_back()
    };
    let was_at_work = hold::strike_at_work(control, hold::BELOW_A_LEASE, step)
        .await?
        .is_some();
    let at_work = SendOptions {
        work: Some(hold::BELOW_A_LEASE),
        ..SendOptions::default()
    };
    let second = hold::with_competitors_at(control, SECOND_FIRST, at_work, sleep(hold::AT_WORK_AFTER)).await?;
    Ok(clocks.prove(control, "stepped back")? && was_at_work && second.is_some())
}
