//! An instance is killed (SIGKILL, by itself) between two steps: the stock is taken, and the order is not entered yet.
//! It is about strategies in which these are two steps. Other buyers come meanwhile. The round counts only if the
//! process has died and its buyer got no response.

use anyhow::Result;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::faults::crash;

pub(super) const THREAT: Threat = Threat {
    name: "crashed-between",
    title: "crash between steps",
    mostly_waits: true,
    is_about: |strategy| strategy.record_at.is_some(),
    load: |asked, _| asked.two_waves(),
    injection: Some(Injection {
        places: crash::places,
        explains: ExplainedUnknowns::FromDeadInstance,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("crashed_between.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    match &control.attack.sale.strategy.record_at {
        Some(step) => crash::crash_at(control, step).await,
        None => Ok(false),
    }
}
