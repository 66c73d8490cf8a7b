//! MariaDB is killed (SIGKILL) just when a purchase is about to take each of the steps that there are, or has taken it and has not
//! heard so, and started again: what was committed is there, and nothing else, no lock either. Others buy before the purchase
//! goes on.

use anyhow::Result;
use async_trait::async_trait;
use stack::ServerKind;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::{Requirement, servers};
use crate::faults::hang_up::HangUp;
use crate::faults::{every_step, hang_up, restart};
use crate::sale::Load;
use crate::shop::catalogue::Strategy;

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

    fn needs(&self, _: &Strategy) -> Vec<Requirement> {
        hang_up::needs()
    }

    fn load(&self, asked: Load, strategy: &Strategy) -> Load {
        hang_up::load(asked, strategy)
    }

    fn injection(&self) -> Option<&dyn Injection> {
        Some(self)
    }
}

#[async_trait]
impl Injection for SqlRestart {
    fn places(&self, load: &Load) -> Vec<usize> {
        every_step::places(load)
    }

    /// Those whom the shop was serving meanwhile.
    fn explains(&self) -> ExplainedUnknowns {
        ExplainedUnknowns::Ignorance
    }

    async fn act(&self, control: &AttackControl<'_>) -> Result<bool> {
        let has_begun = restart::sales_begun(control).await;
        let has_struck = has_begun && hang_up::at_every_step(control, &mut Restart).await?;
        // Rarely MariaDB comes back with an index that lacks rows of its table: orders would seem to be lost.
        if let Some(sale) = control.attack.sale.sales.first() {
            sale.reader.check().await?;
        }
        Ok(has_struck)
    }
}

struct Restart;

#[async_trait]
impl HangUp for Restart {
    async fn hang_up(&mut self, control: &AttackControl<'_>) -> Result<bool> {
        restart::on_stores(control, |stores| restart::restart(stores, ServerKind::MariaDb)).await?;
        Ok(true)
    }
}
