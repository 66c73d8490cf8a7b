//! Redis is killed (SIGKILL) while a purchase is at work, and started again without anything it knew, stock, orders and locks:
//! it keeps nothing on disk.

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
impl Injection for RedisRestart {
    fn places(&self, load: &Load) -> Vec<usize> {
        hold::places(load)
    }

    /// Those whom the shop was serving meanwhile.
    fn explains(&self) -> ExplainedUnknowns {
        ExplainedUnknowns::Ignorance
    }

    async fn act(&self, control: &AttackControl<'_>) -> Result<bool> {
        restart::redis(control).await
    }
}
