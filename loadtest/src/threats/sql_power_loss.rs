//! The SQL database loses power while a purchase is at work, and starts again. It syncs its log at each commit
//! (`innodb_flush_log_at_trx_commit = 1` in MariaDB, `synchronous_commit = on` in PostgreSQL, their defaults), so everything
//! that it confirmed is there.
//! Power is lost as `stack::Unsynced` describes: the process is killed, and all that it wrote and did not sync is undone.
//! The round counts only if the database synced something after the last sale had begun. Damaged tables end the run: they
//! are no fault of a shop.

use anyhow::Result;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::faults::power_loss::{self, Syncs};
use crate::faults::{hold, sql_database};

pub(super) const THREAT: Threat = Threat {
    name: "sql-power-loss",
    title: "SQL database loses power",
    mostly_waits: true,
    is_about: |strategy| sql_database::first(strategy).is_some(),
    load: hold::load,
    requires: sql_database::journal,
    injection: Some(Injection {
        places: power_loss::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("sql_power_loss.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let database = sql_database::of(control)?;
    power_loss::prepare(control, database).await?;
    let has_struck = power_loss::strike(control, database, Syncs::Before).await?;
    power_loss::check_tables(control).await?;
    Ok(has_struck)
}
