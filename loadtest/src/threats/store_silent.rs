//! Between the instances and their stores nothing arrives any more, in either direction, for longer than every timeout; then
//! it does, on the same connections, and what was sent before comes late.

use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;
use tokio::time::sleep;

use super::Threat;
use crate::attack::{Deed, Scene};
use crate::catalogue::Strategy;
use crate::deeds::relays;
use crate::need::{Need, servers};

/// For how long: a command of our own shop is given up after five seconds.
const LASTS: Duration = Duration::from_secs(6);

pub(super) struct StoreSilent;

impl Threat for StoreSilent {
    fn name(&self) -> &'static str {
        "store-silent"
    }

    fn title(&self, _instances: usize) -> String {
        "store is silent".to_owned()
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
impl Deed for StoreSilent {
    /// Those whom the shop was serving meanwhile.
    fn excuses_silence(&self) -> bool {
        true
    }

    async fn act(&self, scene: &Scene<'_>) -> Result<bool> {
        let has_begun = scene.after_sales(1).await;
        let relays = relays::of(scene)?;
        for relay in relays.all() {
            relay.silence();
        }
        sleep(LASTS).await;
        Ok(has_begun && relays.any_affected())
    }
}
