//! MariaDB closes every connection of the shop (KILL) just when a purchase is about to take each of the steps that there are, or
//! has taken it and has not heard so, and serves new ones. What was not committed is gone, and so is every lock that a
//! connection held. Others buy before the purchase goes on.

use anyhow::{Context, Result};
use async_trait::async_trait;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};
use sqlx::{ConnectOptions, Connection, query_scalar, raw_sql};
use stack::ServerKind;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::servers;
use crate::faults::hang_up::HangUp;
use crate::faults::{every_step, hang_up, restart};
use crate::shop::catalogue::Strategy;

/// One statement: asked for one by one, the last would end long after the first on a machine at work. One may have ended by
/// itself.
const KILL_ALL: &str = "begin not atomic
    declare continue handler for sqlexception begin end;
    set @killed = 0;
    for other in (select id from information_schema.processlist where command <> 'Daemon' and id <> connection_id()) do
        kill connection other.id;
        set @killed = @killed + 1;
    end for;
end";

pub(super) const THREAT: Threat = Threat {
    name: "sql-gone",
    title: "MariaDB hangs up",
    mostly_waits: true,
    is_about,
    load: hang_up::load,
    requires: |_| hang_up::needs(),
    injection: Some(Injection {
        places: every_step::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("sql_gone.rs"),
    ..Threat::PLAIN
};

/// Where MariaDB keeps nothing but a lock, it has to be one that a connection holds: others take part in no transaction.
fn is_about(strategy: &Strategy) -> bool {
    let place = strategy.store;
    let is_session_lock = strategy.family() == "session-lock";
    [place.stock, place.orders].contains(&"sql") || is_session_lock && servers(strategy).contains(&ServerKind::MariaDb)
}

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    // A lock that went with its connection would otherwise let nothing be sold, and that proves nothing.
    let has_begun = restart::sales_begun(control).await;
    let local_processes = control.shop.local_processes().context("the shop is not ours")?;
    let options: MySqlConnectOptions = local_processes.stores.sql_url().parse()?;
    // On a machine at work connecting may take as long as the purchases.
    let mut killer = Killer(options.connect().await?);
    let has_struck = hang_up::at_every_step(control, &mut killer).await?;
    killer.0.close().await?;
    Ok(has_begun && has_struck)
}

/// A connection that closes all others.
struct Killer(MySqlConnection);

#[async_trait]
impl HangUp for Killer {
    async fn hang_up(&mut self, _: &AttackControl<'_>) -> Result<bool> {
        raw_sql(KILL_ALL).execute(&mut self.0).await?;
        let killed: i64 = query_scalar("select cast(@killed as signed)")
            .fetch_one(&mut self.0)
            .await?;
        Ok(killed > 0)
    }
}
