//! Redis is killed (SIGKILL) while a purchase is at work, and started again without anything it knew, stock, orders and locks:
//! it keeps nothing on disk.

use anyhow::Result;
use async_trait::async_trait;
use stack::ServerKind;

use super::{Threat, two_waves};
use crate::attack::{Deed, Scene};
use crate::audit::Excuses;
use crate::catalogue::Strategy;
use crate::deeds::{hold, restart};
use crate::load::Load;
use crate::need::{Need, servers};

pub(super) struct RedisRestart;

impl Threat for RedisRestart {
    fn name(&self) -> &'static str {
        "redis-restart"
    }

    fn title(&self, _instances: usize) -> String {
        "Redis restarts empty".to_owned()
    }

    fn mostly_waits(&self) -> bool {
        true
    }

    fn empties_a_store(&self) -> bool {
        true
    }

    fn concerns(&self, strategy: &Strategy) -> bool {
        servers(strategy).contains(&ServerKind::Redis)
    }

    fn needs(&self, _: &Strategy) -> Vec<Need> {
        vec![Need::Service(ServerKind::Redis)]
    }

    fn load(&self, asked: Load, _: &Strategy) -> Load {
        hold::load(two_waves(asked))
    }

    fn deed(&self) -> Option<&dyn Deed> {
        Some(self)
    }
}

#[async_trait]
impl Deed for RedisRestart {
    fn places(&self, load: &Load) -> Vec<usize> {
        hold::places(load)
    }

    /// Those whom the shop was serving meanwhile.
    fn excuses(&self) -> Excuses {
        Excuses::Ignorance
    }

    async fn act(&self, scene: &Scene<'_>) -> Result<bool> {
        restart::redis(scene).await
    }
}
