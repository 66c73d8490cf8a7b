//! The SQL database loses power as in `sql-power-loss`, but syncs its log later, as many set it for speed: the last
//! confirmed orders are gone. MariaDB with `innodb_flush_log_at_trx_commit = 2` does it once in a second, PostgreSQL with
//! `synchronous_commit = off` after three times its `wal_writer_delay` at the latest; that is 10 s here, the longest one, so that
//! the loss comes in time. Both rounds differ in these settings alone. The round counts only if the last confirmed sale before the
//! loss was not synced.

use anyhow::Result;
use stack::ServiceKind;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::Requirement;
use crate::faults::power_loss::{self, Syncs};
use crate::faults::{hold, sql_database};

pub(super) const THREAT: Threat = Threat {
    name: "sql-power-loss-unsynced",
    title: "SQL database that syncs later loses power",
    mostly_waits: true,
    empties_a_store: true,
    is_about: |strategy| sql_database::first(strategy).is_some(),
    phases: sql_database::phases,
    load: hold::load,
    requires: |strategy| {
        let settings = sql_database::first(strategy).map(Requirement::Settings);
        sql_database::journal(strategy).into_iter().chain(settings).collect()
    },
    injection: Some(Injection {
        places: power_loss::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("sql_power_loss_unsynced.rs"),
    ..Threat::PLAIN
};

/// The setting of MariaDB is gone with its process.
const MARIADB_LATER: &[&str] = &["set global innodb_flush_log_at_trx_commit = 2"];

/// These settings of PostgreSQL outlast its process, so they are taken back.
const POSTGRES_LATER: &[&str] = &[
    "alter system set synchronous_commit = off",
    "alter system set wal_writer_delay = '10s'",
    "select pg_reload_conf()",
];
const POSTGRES_AS_BEFORE: &[&str] = &[
    "alter system reset synchronous_commit",
    "alter system reset wal_writer_delay",
    "select pg_reload_conf()",
];

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let database = sql_database::of(control)?;
    let (later, as_before) = match database {
        ServiceKind::Pg => (POSTGRES_LATER, POSTGRES_AS_BEFORE),
        _ => (MARIADB_LATER, [].as_slice()),
    };
    let url = sql_database::url(control, database)?;
    power_loss::prepare(control, database).await?;
    sql_database::execute(url, database, later).await?;
    let has_struck = power_loss::strike(control, database, Syncs::Later).await;
    sql_database::execute(url, database, as_before).await?;
    power_loss::check_tables(control).await?;
    has_struck
}
