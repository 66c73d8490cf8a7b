//! Redis is killed (SIGKILL) while a purchase is at work, and started again with everything it knew, stock, orders and locks:
//! for this round it writes all of it to disk before it answers (`appendonly yes`, `appendfsync always`).

use anyhow::Result;
use async_trait::async_trait;
use stack::ServerKind;

use super::{Threat, two_waves};
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::{Requirement, servers};
use crate::faults::{hold, restart};
use crate::sale::Load;
use crate::shop::catalogue::Strategy;

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

    fn needs(&self, _: &Strategy) -> Vec<Requirement> {
        vec![Requirement::Service(ServerKind::Redis)]
    }

    fn load(&self, asked: Load, _: &Strategy) -> Load {
        hold::load(two_waves(asked))
    }

    fn injection(&self) -> Option<&dyn Injection> {
        Some(self)
    }
}

#[async_trait]
impl Injection for RedisRestartAof {
    fn places(&self, load: &Load) -> Vec<usize> {
        hold::places(load)
    }

    /// Those whom the shop was serving meanwhile.
    fn explains(&self) -> ExplainedUnknowns {
        ExplainedUnknowns::Ignorance
    }

    async fn act(&self, control: &AttackControl<'_>) -> Result<bool> {
        restart::on_stores(control, |stores| stores.keep_redis_on_disk(true)).await?;
        let has_begun = restart::redis(control).await?;
        // Other threats need a Redis that forgets; this one has come back by now, and keeps in memory what it has read.
        let kept = restart::on_stores(control, |stores| stores.keep_redis_on_disk(false)).await?;
        Ok(has_begun && kept)
    }
}
