//! MariaDB loses power while a purchase is at work, and starts again. It syncs its log at each commit
//! (`innodb_flush_log_at_trx_commit = 1`, its default), so everything that it confirmed is there.
//! Power is lost as `stack::Unsynced` describes: the process is killed, and all that it wrote and did not sync is undone.
//! The round counts only if MariaDB synced something after the last sale had begun. Damaged tables end the run: they
//! are no fault of a shop.

use anyhow::Result;
use stack::ServiceKind;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::{Requirement, servers};
use crate::faults::hold;
use crate::faults::power_loss::{self, Syncs};

pub(super) const THREAT: Threat = Threat {
    name: "sql-power-loss",
    title: "MariaDB loses power",
    mostly_waits: true,
    is_about: |strategy| servers(strategy).contains(&ServiceKind::Sql),
    load: hold::load,
    requires: |_| vec![Requirement::Journal(ServiceKind::Sql)],
    injection: Some(Injection {
        places: power_loss::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("sql_power_loss.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    power_loss::prepare(control, ServiceKind::Sql).await?;
    let has_struck = power_loss::strike(control, ServiceKind::Sql, Syncs::Before).await?;
    power_loss::check_tables(control).await?;
    Ok(has_struck)
}
