//! One purchase works for longer than any lease, while its process is alive and others buy. A lock that is renewed in
//! time is kept. The round counts only if that purchase took as long as it was told to.

use std::time::Duration;

use anyhow::Result;
use tokio::time::sleep;

use super::Threat;
use crate::attack::{AttackControl, Injection, SendOptions};
use crate::faults::hold;

pub(super) const THREAT: Threat = Threat {
    name: "slow-holder",
    title: "holder is slow",
    mostly_waits: true,
    load: hold::load,
    injection: Some(Injection {
        places: hold::places,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("slow_holder.rs"),
    ..Threat::PLAIN
};

/// A purchase with an earlier response has not worked for so long, or not at all.
async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let options = SendOptions {
        work: Some(hold::HELD_FOR),
        ..SendOptions::default()
    };
    let response = hold::with_competitors(control, options, sleep(hold::AT_WORK_AFTER)).await?;
    let worked = response.map_or(Duration::ZERO, |response| response.ended.duration_since(response.sent));
    let is_long = worked >= hold::HELD_FOR;
    if is_long {
        control.prove("app-1", format!("one purchase took {} ms", worked.as_millis()));
    }
    Ok(is_long)
}
