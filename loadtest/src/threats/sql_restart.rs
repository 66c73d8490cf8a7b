//! MariaDB is killed (SIGKILL) just when a purchase is about to take each of the steps that there are, or has taken it and has not
//! heard so, and started again: what was committed is there, and nothing else, no lock either. Others buy before the purchase
//! goes on.

use anyhow::Result;
use async_trait::async_trait;
use stack::ServerKind;

use super::Threat;
use crate::attack::{Deed, Scene};
use crate::audit::Excuses;
use crate::catalogue::Strategy;
use crate::deeds::hang_up::HangUp;
use crate::deeds::{every_step, hang_up, restart};
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

    fn mostly_waits(&self) -> bool {
        true
    }

    fn concerns(&self, strategy: &Strategy) -> bool {
        servers(strategy).contains(&ServerKind::MariaDb)
    }

    fn needs(&self, _: &Strategy) -> Vec<Need> {
        hang_up::needs()
    }

    fn load(&self, asked: Load, strategy: &Strategy) -> Load {
        hang_up::load(asked, strategy)
    }

    fn deed(&self) -> Option<&dyn Deed> {
        Some(self)
    }
}

#[async_trait]
impl Deed for SqlRestart {
    fn places(&self, load: &Load) -> Vec<usize> {
        every_step::places(load)
    }

    /// Those whom the shop was serving meanwhile.
    fn excuses(&self) -> Excuses {
        Excuses::Ignorance
    }

    async fn act(&self, scene: &Scene<'_>) -> Result<bool> {
        let has_begun = restart::sales_begun(scene).await;
        let has_struck = has_begun && hang_up::at_every_step(scene, &mut Restart).await?;
        // Rarely MariaDB comes back with an index that lacks rows of its table: orders would seem to be lost.
        if let Some(sale) = scene.attack.sale.sales.first() {
            sale.reader.check().await?;
        }
        Ok(has_struck)
    }
}

struct Restart;

#[async_trait]
impl HangUp for Restart {
    async fn hang_up(&mut self, scene: &Scene<'_>) -> Result<bool> {
        restart::on_stores(scene, |stores| restart::restart(stores, ServerKind::MariaDb)).await?;
        Ok(true)
    }
}
