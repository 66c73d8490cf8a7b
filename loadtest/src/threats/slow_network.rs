//! Every message between an instance and its stores and lock services takes 5 ms longer, so a round trip takes 10 ms
//! longer. This lasts until the first wave has its responses. The round counts only if messages of each of them were
//! delayed.

use std::time::Duration;

use anyhow::Result;
use stack::Direction;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::deployment::requirement::{Requirement, servers};
use crate::faults::relays;

const DELAY: Duration = Duration::from_millis(5);

pub(super) const THREAT: Threat = Threat {
    name: "slow-network",
    title: "network is slow",
    mostly_waits: true,
    load: |asked, _| asked.two_waves(),
    requires: |strategy| servers(strategy).into_iter().map(Requirement::Relay).collect(),
    injection: Some(Injection::new(|control| Box::pin(inject(control)))),
    source: include_str!("slow_network.rs"),
    ..Threat::PLAIN
};

/// The delay lasts until the first wave has its responses.
async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let relays = relays::of_strategy(control)?;
    for relay in relays.all() {
        for direction in Direction::BOTH {
            relay.delay(direction, DELAY);
        }
    }
    control.release_until_sales(usize::MAX).await;
    relays.prove_affected(control, "delayed");
    Ok(relays.each_is_proven(control))
}
