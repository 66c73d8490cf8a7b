//! Each SQL database of the strategy, one after the other, is killed (SIGKILL) and started again. This happens when a purchase
//! is about to take each of the steps of its strategy, and when it has taken the step but has no reply yet. Committed
//! changes are there afterwards, everything else is lost, locks too. Others buy before the purchase goes on. A kill does
//! not show that commits are on disk: the kernel keeps what was written, so with `innodb_flush_log_at_trx_commit = 2` of MariaDB
//! they would be there as well. `sql-power-loss` and `sql-power-loss-unsynced` show that. The round counts only if something was
//! sold before and a reply was lost each time.

use anyhow::Result;
use async_trait::async_trait;
use stack::ServiceKind;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::faults::closed_connections::CloseConnections;
use crate::faults::{closed_connections, every_step, restart, sql_database};

pub(super) const THREAT: Threat = Threat {
    name: "sql-restart",
    title: "SQL database restarts",
    mostly_waits: true,
    is_about: |strategy| !sql_database::all(strategy).is_empty(),
    load: closed_connections::load,
    requires: closed_connections::requirements,
    injection: Some(Injection {
        places: every_step::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("sql_restart.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let has_begun = restart::play_first_wave(control).await;
    let databases = sql_database::all(&control.attack.sale.strategy).into_iter();
    let mut restarts: Vec<Box<dyn CloseConnections>> = Vec::new();
    restarts.extend(databases.map(|kind| Box::new(Restart(kind)) as Box<dyn CloseConnections>));
    let has_struck = has_begun && closed_connections::at_every_step(control, &mut restarts).await?;
    // MariaDB rarely comes back with an index that lacks rows of its table: orders would then seem to be lost.
    if let Some(sale) = control.attack.sale.sales.first() {
        sale.reader.check().await?;
    }
    Ok(has_struck)
}

struct Restart(ServiceKind);

#[async_trait]
impl CloseConnections for Restart {
    fn server(&self) -> ServiceKind {
        self.0
    }

    async fn close_all(&mut self, control: &AttackControl<'_>) -> Result<bool> {
        let kind = self.0;
        let proofs = restart::on_stores(control, move |stores| restart::restart_service(stores, kind)).await?;
        control.keep_proofs(proofs);
        Ok(true)
    }
}
