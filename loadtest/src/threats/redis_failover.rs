//! A replica of Redis is cut off from it and promoted. Redis goes on serving, until it is killed (SIGKILL) while a purchase is at
//! work; the replica takes over its address, without stock, orders and locks as they became since the cut.

use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;
use stack::ServerKind;
use tokio::time::sleep;

use super::{Threat, two_waves};
use crate::attack::{AttackControl, Injection, SendOptions};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::{Requirement, servers};
use crate::faults::{hold, restart};
use crate::sale::Load;
use crate::shop::catalogue::Strategy;

/// How long both serve: longer than a lease of our own shop.
const PARTITION: Duration = Duration::from_millis(1_200);

pub(super) struct RedisFailover;

impl Threat for RedisFailover {
    fn name(&self) -> &'static str {
        "redis-failover"
    }

    fn title(&self, _instances: usize) -> String {
        "Redis fails over".to_owned()
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
impl Injection for RedisFailover {
    fn places(&self, load: &Load) -> Vec<usize> {
        hold::places(load)
    }

    /// Those whom the shop was serving meanwhile.
    fn explains(&self) -> ExplainedUnknowns {
        ExplainedUnknowns::Ignorance
    }

    async fn act(&self, control: &AttackControl<'_>) -> Result<bool> {
        let replica = restart::on_stores(control, stack::Stores::replicate_redis).await?;
        let has_begun = restart::sales_begun(control).await;
        let failover = restart::on_stores(control, |_| replica.partition()).await?;
        // A whole sale that the promoted one will not know, and the end of every lease that it does.
        let (sold, ()) = tokio::join!(control.send(0, SendOptions::default()), sleep(PARTITION));
        sold?;
        let lost = restart::while_at_work(control, |stores| stores.fail_over_redis(failover)).await?;
        Ok(has_begun && lost > 0)
    }
}
