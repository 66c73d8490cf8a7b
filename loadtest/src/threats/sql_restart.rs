//! MariaDB is killed (SIGKILL) in the middle of a sale and started again: what was committed is there, and nothing else.

use anyhow::{Context, Result};
use async_trait::async_trait;
use stack::ServerKind;

use super::{Threat, smallest_crowd_of_instances, two_waves};
use crate::attack::{Deed, Scene};
use crate::catalogue::Strategy;
use crate::load::Load;
use crate::need::{Need, servers};

pub(super) struct SqlRestart;

impl Threat for SqlRestart {
    fn name(&self) -> &'static str {
        "sql-restart"
    }

    fn title(&self, _instances: usize) -> String {
        "MariaDB restarts".to_owned()
    }

    fn instances(&self, counts: &[usize]) -> Vec<usize> {
        smallest_crowd_of_instances(counts).into_iter().collect()
    }

    fn mostly_waits(&self) -> bool {
        true
    }

    fn concerns(&self, strategy: &Strategy) -> bool {
        servers(strategy).contains(&ServerKind::MariaDb)
    }

    fn needs(&self, _: &Strategy) -> Vec<Need> {
        vec![Need::Service(ServerKind::MariaDb)]
    }

    fn load(&self, asked: Load) -> Load {
        two_waves(asked)
    }

    fn deed(&self) -> Option<&dyn Deed> {
        Some(self)
    }
}

#[async_trait]
impl Deed for SqlRestart {
    /// Those whom the shop was serving meanwhile.
    fn excuses_silence(&self) -> bool {
        true
    }

    async fn act(&self, scene: &Scene<'_>) -> Result<bool> {
        let ours = scene.shop.ours().context("the shop is not ours")?;
        let mariadb = ours.stores.mariadb().context("its MariaDB is not ours")?;
        let has_begun = scene.after_sales(scene.attack.sale.load.buyers / 4).await;
        mariadb.kill()?;
        Ok(has_begun)
    }
}
