//! MariaDB fails over to an asynchronous replica that lacks the latest transactions. The replica is cut off and
//! promoted. The old MariaDB goes on serving until it is killed (SIGKILL) while a purchase is at work. Then the replica
//! takes over its address, without any commit since the cut and without the locks of connections. No MariaDB replicates
//! otherwise: the binary log that it needs would slow every sale. A lock that lies there alone is lost while its
//! purchase is at work, and right before the write. The round counts only if transactions were lost, or where MariaDB
//! keeps nothing but the lock of a connection, if another process serves.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use stack::ServiceKind;
use tokio::time::sleep;

use super::Threat;
use crate::attack::{AttackControl, Injection, SendOptions};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::{Requirement, lock_servers, servers};
use crate::faults::{hold, restart};
use crate::phase::Phase;
use crate::text::counted;
use crate::trace::IncidentKind;

/// The time for which both serve: longer than a lease of the shop that is started here.
const PARTITION: Duration = Duration::from_millis(1_200);

pub(super) const THREAT: Threat = Threat {
    name: "sql-failover",
    title: "MariaDB fails over",
    mostly_waits: true,
    empties_a_store: true,
    is_about: |strategy| servers(strategy).contains(&ServiceKind::Sql),
    phases: |strategy| Phase::of_lock_in(strategy, ServiceKind::Sql),
    load: hold::load,
    requires: |_| vec![Requirement::Service(ServiceKind::Sql)],
    injection: Some(Injection {
        places: hold::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("sql_failover.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    // The restart with a binary log closes all connections before the first buyer comes.
    sleep(restart::IDLE_FOR).await;
    let replica = restart::on_stores(control, stack::Stores::replicate_mariadb).await?;
    let has_begun = restart::play_first_wave(control).await;
    let failover = restart::on_stores(control, |_| replica.partition()).await?;
    control.note(IncidentKind::CutOff, "MariaDB", Instant::now(), None);
    let (sold, ()) = tokio::join!(control.send(0, SendOptions::default()), sleep(PARTITION));
    sold?;
    let strategy = &control.attack.sale.strategy;
    let keeps_nothing = strategy.family() == "session-lock" && lock_servers(strategy).contains(&ServiceKind::Sql);
    let (lost, processes, [killed, back]) = restart::act_during_purchase(control, |stores| {
        let mariadb = stores.mariadb().context("MariaDB was not started here")?;
        let (killed, before) = (Instant::now(), mariadb.pid());
        let lost = stores.fail_over_mariadb(failover)?;
        Ok((lost, [before, mariadb.pid()], [killed, Instant::now()]))
    })
    .await?;
    control.note(IncidentKind::FailedOver, "MariaDB", killed, Some(back));
    let [before, now] = processes;
    let transactions = counted(lost as usize, ["transaction", "transactions"]);
    let proof = format!("process {before} was killed, and process {now} took its place, which lacks {transactions}");
    control.prove("sql", proof);
    Ok(has_begun && (lost > 0 || keeps_nothing))
}
