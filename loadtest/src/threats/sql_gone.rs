//! Each MariaDB of the strategy, one after the other, closes every connection of the shop (KILL) and accepts new ones.
//! This happens when a purchase is about to take each of the steps of its strategy, and when it has taken the step but
//! has no reply yet. Uncommitted changes are lost, and so is every lock that a connection held. Others buy before the
//! purchase goes on. The round counts only if connections were closed each time.

use anyhow::{Context, Result};
use async_trait::async_trait;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};
use sqlx::{ConnectOptions, query_scalar, raw_sql};
use stack::ServiceKind;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::faults::closed_connections::CloseConnections;
use crate::faults::{closed_connections, every_step, restart};
use crate::shop::catalogue::Strategy;

/// Kills all connections in one statement. With one statement for each connection the last kill would come long after
/// the first on a busy machine. A connection may have ended by itself.
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
    load: closed_connections::load,
    requires: closed_connections::requirements,
    injection: Some(Injection {
        places: every_step::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("sql_gone.rs"),
    ..Threat::PLAIN
};

/// If MariaDB keeps only a lock, that has to be a lock of a connection: other locks take part in no transaction.
fn is_about(strategy: &Strategy) -> bool {
    let stores = strategy.store;
    let is_session_lock = strategy.family() == "session-lock";
    let holds_sales = |kind: ServiceKind| [stores.stock, stores.orders].contains(&kind.name());
    let databases = closed_connections::databases(strategy);
    databases.iter().any(|kind| is_session_lock || holds_sales(*kind))
}

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    // Without an earlier sale, a lock that is lost with its connection could stop all sales, and that proves nothing.
    let has_begun = restart::play_first_wave(control).await;
    let local_processes = control
        .shop
        .local_processes()
        .context("the shop was not started here")?;
    let mut killers: Vec<Box<dyn CloseConnections>> = Vec::new();
    for kind in closed_connections::databases(&control.attack.sale.strategy) {
        let url = local_processes.stores.url(kind).context("a MariaDB has no URL")?;
        let options: MySqlConnectOptions = url.parse()?;
        // On a busy machine connecting may take as long as the purchases, so it happens before.
        let connection = options.connect().await?;
        killers.push(Box::new(Killer { connection, kind }));
    }
    let has_struck = closed_connections::at_every_step(control, &mut killers).await?;
    Ok(has_begun && has_struck)
}

/// A connection that closes all others.
struct Killer {
    connection: MySqlConnection,
    kind: ServiceKind,
}

#[async_trait]
impl CloseConnections for Killer {
    fn server(&self) -> ServiceKind {
        self.kind
    }

    async fn close_all(&mut self, control: &AttackControl<'_>) -> Result<bool> {
        raw_sql(KILL_ALL).execute(&mut self.connection).await?;
        let killed: i64 = query_scalar("select cast(@killed as signed)")
            .fetch_one(&mut self.connection)
            .await?;
        if killed > 0 {
            control.prove(self.kind.name(), format!("it closed {killed} connections"));
        }
        Ok(killed > 0)
    }
}
