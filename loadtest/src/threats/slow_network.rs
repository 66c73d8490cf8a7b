//! Every message between an instance and its stores takes 5 ms, so that a round trip takes 10.

use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;
use stack::Direction;

use super::Threat;
use crate::attack::{Deed, Scene};
use crate::audit::Excuses;
use crate::catalogue::Strategy;
use crate::deeds::relays;
use crate::need::{Need, servers};

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

    fn needs(&self, strategy: &Strategy) -> Vec<Need> {
        servers(strategy).into_iter().map(Need::Relay).collect()
    }

    fn deed(&self) -> Option<&dyn Deed> {
        Some(self)
    }
}

#[async_trait]
impl Deed for SlowNetwork {
    fn excuses(&self) -> Excuses {
        Excuses::Nothing
    }

    /// It lasts until all of the first wave are answered.
    async fn act(&self, scene: &Scene<'_>) -> Result<bool> {
        let relays = relays::of(scene)?;
        for relay in relays.all() {
            for direction in Direction::BOTH {
                relay.delay(direction, DELAY);
            }
        }
        scene.after_sales(usize::MAX).await;
        Ok(relays.any_affected())
    }
}
