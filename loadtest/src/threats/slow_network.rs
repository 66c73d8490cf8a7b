//! Every message between an instance and its stores takes 5 ms, so that a round trip takes 10.

use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;
use stack::Direction;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::{Requirement, servers};
use crate::faults::relays;
use crate::shop::catalogue::Strategy;

/// In each direction.
const DELAY: Duration = Duration::from_millis(5);

pub(super) struct SlowNetwork;

impl Threat for SlowNetwork {
    fn name(&self) -> &'static str {
        "slow-network"
    }

    fn title(&self, _instances: usize) -> String {
        "network is slow".to_owned()
    }

    fn mostly_waits(&self) -> bool {
        true
    }

    fn needs(&self, strategy: &Strategy) -> Vec<Requirement> {
        servers(strategy).into_iter().map(Requirement::Relay).collect()
    }

    fn injection(&self) -> Option<&dyn Injection> {
        Some(self)
    }
}

#[async_trait]
impl Injection for SlowNetwork {
    fn explains(&self) -> ExplainedUnknowns {
        ExplainedUnknowns::Nothing
    }

    /// It lasts until all of the first wave are answered.
    async fn act(&self, control: &AttackControl<'_>) -> Result<bool> {
        let relays = relays::of(control)?;
        for relay in relays.all() {
            for direction in Direction::BOTH {
                relay.delay(direction, DELAY);
            }
        }
        control.after_sales(usize::MAX).await;
        Ok(relays.any_affected())
    }
}
