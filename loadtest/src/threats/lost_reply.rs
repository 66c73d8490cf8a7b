//! The stores are told what to do and do it, and what they answer never arrives; then the connections end.

use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;
use tokio::time::sleep;

use super::Threat;
use crate::attack::{Deed, Scene};
use crate::catalogue::Strategy;
use crate::deeds::relays;
use crate::need::{Need, servers};

/// For how long at most until one is lost.
const LASTS: Duration = Duration::from_millis(200);

pub(super) struct LostReply;

impl Threat for LostReply {
    fn name(&self) -> &'static str {
        "lost-reply"
    }

    fn title(&self, _instances: usize) -> String {
        "replies are lost".to_owned()
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
impl Deed for LostReply {
    /// Those whom the shop was serving meanwhile.
    fn excuses_silence(&self) -> bool {
        true
    }

    async fn act(&self, scene: &Scene<'_>) -> Result<bool> {
        let has_begun = scene.after_sales(1).await;
        let relays = relays::of(scene)?;
        for relay in relays.all() {
            relay.lose_replies();
        }
        sleep(LASTS).await;
        Ok(has_begun && relays.any_affected())
    }
}
