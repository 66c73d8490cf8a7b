//! MariaDB loses power as in `sql-power-loss`, but syncs its log once in a second (`innodb_flush_log_at_trx_commit = 2`,
//! as many set it for speed): up to a second of confirmed orders is gone. Both rounds differ in that setting alone. The round
//! counts only if the last confirmed sale before the loss was not synced.

use anyhow::Result;
use sqlx::mysql::MySqlConnectOptions;
use sqlx::{ConnectOptions, Connection, raw_sql};
use stack::ServiceKind;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::{Requirement, servers};
use crate::faults::power_loss::{self, Syncs};
use crate::faults::{hold, restart};
use crate::phase::Phase;

pub(super) const THREAT: Threat = Threat {
    name: "sql-power-loss-unsynced",
    title: "MariaDB that syncs later loses power",
    mostly_waits: true,
    empties_a_store: true,
    is_about: |strategy| servers(strategy).contains(&ServiceKind::Sql),
    phases: |strategy| Phase::of_lock_in(strategy, ServiceKind::Sql),
    load: hold::load,
    requires: |_| vec![Requirement::Journal(ServiceKind::Sql)],
    injection: Some(Injection {
        places: power_loss::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("sql_power_loss_unsynced.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    power_loss::prepare(control, ServiceKind::Sql).await?;
    // The setting is gone with the process.
    let url = restart::on_stores(control, |stores| Ok(stores.sql_url().to_owned())).await?;
    let mut connection = url.parse::<MySqlConnectOptions>()?.connect().await?;
    raw_sql("set global innodb_flush_log_at_trx_commit = 2")
        .execute(&mut connection)
        .await?;
    connection.close().await?;
    let has_struck = power_loss::strike(control, ServiceKind::Sql, Syncs::Later).await?;
    power_loss::check_tables(control).await?;
    Ok(has_struck)
}
