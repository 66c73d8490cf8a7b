//! Redis is killed (SIGKILL) while a purchase is at work, and started again with everything it knew, stock, orders and locks:
//! for this round it writes all of it to disk before it answers (`appendonly yes`, `appendfsync always`).

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

pub(super) struct RedisRestartAof;

impl Threat for RedisRestartAof {
    fn name(&self) -> &'static str {
        "redis-restart-aof"
    }

    fn title(&self, _instances: usize) -> String {
        "Redis restarts from its AOF".to_owned()
    }

    fn mostly_waits(&self) -> bool {
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
impl Deed for RedisRestartAof {
    fn places(&self, load: &Load) -> Vec<usize> {
        hold::places(load)
    }

    /// Those whom the shop was serving meanwhile.
    fn excuses(&self) -> Excuses {
        Excuses::Ignorance
    }

    async fn act(&self, scene: &Scene<'_>) -> Result<bool> {
        restart::on_stores(scene, |stores| stores.keep_redis_on_disk(true)).await?;
        let has_begun = restart::redis(scene).await?;
        // Other threats need a Redis that forgets; this one has come back by now, and keeps in memory what it has read.
        let kept = restart::on_stores(scene, |stores| stores.keep_redis_on_disk(false)).await?;
        Ok(has_begun && kept)
    }
}
