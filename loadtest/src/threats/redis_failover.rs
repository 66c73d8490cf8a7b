//! A replica of Redis is cut off from it and promoted. Redis goes on serving, until it is killed (SIGKILL) while a purchase is at
//! work; the replica takes over its address, without stock, orders and locks as they became since the cut.

use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;
use stack::ServerKind;
use tokio::time::sleep;

use super::{Threat, two_waves};
use crate::attack::{Deed, Scene, Sending};
use crate::audit::Excuses;
use crate::catalogue::Strategy;
use crate::deeds::{hold, restart};
use crate::load::Load;
use crate::need::{Need, servers};

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
impl Deed for RedisFailover {
    fn places(&self, load: &Load) -> Vec<usize> {
        hold::places(load)
    }

    /// Those whom the shop was serving meanwhile.
    fn excuses(&self) -> Excuses {
        Excuses::Ignorance
    }

    async fn act(&self, scene: &Scene<'_>) -> Result<bool> {
        let replica = restart::on_stores(scene, stack::Stores::replicate_redis).await?;
        let has_begun = restart::sales_begun(scene).await;
        let failover = restart::on_stores(scene, |_| replica.partition()).await?;
        // A whole sale that the promoted one will not know, and the end of every lease that it does.
        let (sold, ()) = tokio::join!(scene.send(0, Sending::default()), sleep(PARTITION));
        sold?;
        let lost = restart::while_at_work(scene, |stores| stores.fail_over_redis(failover)).await?;
        Ok(has_begun && lost > 0)
    }
}
