//! MariaDB is killed (SIGKILL) just when a purchase is about to take each of the steps that there are, or has taken it and has not
//! heard so, and started again: what was committed is there, and nothing else, no lock either. Others buy before the purchase
//! goes on.

use anyhow::Result;
use async_trait::async_trait;
use stack::ServerKind;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::servers;
use crate::faults::hang_up::HangUp;
use crate::faults::{every_step, hang_up, restart};

pub(super) const THREAT: Threat = Threat {
    name: "sql-restart",
    title: "MariaDB restarts",
    mostly_waits: true,
    is_about: |strategy| servers(strategy).contains(&ServerKind::MariaDb),
    load: hang_up::load,
    requires: |_| hang_up::needs(),
    injection: Some(Injection {
        places: every_step::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("sql_restart.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let has_begun = restart::sales_begun(control).await;
    let has_struck = has_begun && hang_up::at_every_step(control, &mut Restart).await?;
    // Rarely MariaDB comes back with an index that lacks rows of its table: orders would seem to be lost.
    if let Some(sale) = control.attack.sale.sales.first() {
        sale.reader.check().await?;
    }
    Ok(has_struck)
}

struct Restart;

#[async_trait]
impl HangUp for Restart {
    async fn hang_up(&mut self, control: &AttackControl<'_>) -> Result<bool> {
        restart::on_stores(control, |stores| restart::restart(stores, ServerKind::MariaDb)).await?;
        Ok(true)
    }
}
