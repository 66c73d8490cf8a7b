//! The SQL database fails over to an asynchronous replica that lacks the latest transactions. The replica is cut off and
//! promoted. The old database goes on serving until it is killed (SIGKILL) while a purchase is at work. Then the replica
//! takes over its address, without any commit since the cut and without the locks of connections. No database replicates
//! otherwise: the binary log that MariaDB needs would slow every sale. A lock that lies there alone is lost while its
//! purchase is at work, and right before the write. The round counts only if transactions were lost (MariaDB numbers them, and
//! for PostgreSQL the commits in its log are counted), or where the database keeps nothing but the lock of a connection, if
//! another process serves.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::time::sleep;

use super::Threat;
use crate::attack::{AttackControl, Injection, SendOptions};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::{Requirement, lock_servers};
use crate::faults::{hold, restart, sql_database};
use crate::text::counted;
use crate::trace::IncidentKind;

/// The time for which both serve: longer than a lease of the shop that is started here.
const PARTITION: Duration = Duration::from_millis(1_200);

pub(super) const THREAT: Threat = Threat {
    name: "sql-failover",
    title: "SQL database fails over",
    mostly_waits: true,
    empties_a_store: true,
    is_about: |strategy| sql_database::first(strategy).is_some(),
    phases: sql_database::phases,
    load: hold::load,
    requires: |strategy| {
        sql_database::first(strategy)
            .map(Requirement::Replica)
            .into_iter()
            .collect()
    },
    injection: Some(Injection {
        places: hold::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("sql_failover.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    // MariaDB restarts with a binary log, which closes all connections before the first buyer comes.
    sleep(restart::IDLE_FOR).await;
    let database = sql_database::of(control)?;
    let replica = restart::on_stores(control, move |stores| stores.replicate_sql(database)).await?;
    let has_begun = restart::play_first_wave(control).await;
    let failover = restart::on_stores(control, |_| replica.partition()).await?;
    control.note(IncidentKind::CutOff, &database.to_string(), Instant::now(), None);
    let (sold, ()) = tokio::join!(control.send(0, SendOptions::default()), sleep(PARTITION));
    sold?;
    let strategy = &control.attack.sale.strategy;
    let keeps_nothing = strategy.family() == "session-lock" && lock_servers(strategy).contains(&database);
    let (lost, processes, [killed, back]) = restart::act_during_purchase(control, move |stores| {
        let process = stores.processes(database).first();
        let process = process.with_context(|| format!("{database} was not started here"))?;
        let (killed, before) = (Instant::now(), process.pid());
        let lost = stores.fail_over_sql(failover)?;
        Ok((lost, [before, process.pid()], [killed, Instant::now()]))
    })
    .await?;
    control.note(IncidentKind::FailedOver, &database.to_string(), killed, Some(back));
    let [before, now] = processes;
    let transactions = counted(lost as usize, ["transaction", "transactions"]);
    let proof = format!("process {before} was killed, and process {now} took its place, which lacks {transactions}");
    control.prove(database.name(), proof);
    Ok(has_begun && (lost > 0 || keeps_nothing))
}
