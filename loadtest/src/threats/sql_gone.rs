//! Each SQL database of the strategy, one after the other, closes every connection of the shop (`kill` in MariaDB,
//! `pg_terminate_backend` in PostgreSQL) and accepts new ones. This happens when a purchase is about to take each of the steps of its strategy, and when it has taken the step but
//! has no reply yet. Uncommitted changes are lost, and so is every lock that a connection held. Others buy before the
//! purchase goes on. The round counts only if connections were closed each time.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use async_trait::async_trait;
use sqlx::{query_scalar, raw_sql};
use stack::ServiceKind;
use tokio::time::sleep;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::faults::closed_connections::CloseConnections;
use crate::faults::sql_database::SqlConnection;
use crate::faults::{closed_connections, every_step, restart, sql_database};
use crate::shop::catalogue::Strategy;

/// Kills all connections of MariaDB in one statement. With one statement for each connection the last kill would come long after
/// the first on a busy machine. A connection may have ended by itself.
const KILL_ALL: &str = "begin not atomic
    declare continue handler for sqlexception begin end;
    set @killed = 0;
    for other in (select id from information_schema.processlist where command <> 'Daemon' and id <> connection_id()) do
        kill connection other.id;
        set @killed = @killed + 1;
    end for;
end";

/// Ends all connections of PostgreSQL in one statement; returns the processes that serve them. Without the first part it may end
/// its own one, because conditions are tried in any order.
const TERMINATE_ALL: &str = "with others as materialized
    (select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid())
    select pid from others where pg_terminate_backend(pid)";

/// Those of these processes that serve on: they end when they next look for it.
const LEFT: &str = "select count(*) from pg_stat_activity where pid = any($1)";

/// The longest wait for them. A busy machine takes tenths of a second.
const ENDED_WITHIN: Duration = Duration::from_secs(5);
const CHECK_EVERY: Duration = Duration::from_millis(1);

pub(super) const THREAT: Threat = Threat {
    name: "sql-gone",
    title: "SQL database hangs up",
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

/// If the database keeps only a lock, that has to be a lock of a connection: other locks take part in no transaction.
fn is_about(strategy: &Strategy) -> bool {
    let stores = strategy.store;
    let is_session_lock = strategy.family() == "session-lock";
    let holds_sales = |kind: ServiceKind| [stores.stock, stores.orders].contains(&kind.name());
    let databases = sql_database::all(strategy);
    databases.iter().any(|kind| is_session_lock || holds_sales(*kind))
}

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    // Without an earlier sale, a lock that is lost with its connection could stop all sales, and that proves nothing.
    let has_begun = restart::play_first_wave(control).await;
    let mut killers: Vec<Box<dyn CloseConnections>> = Vec::new();
    for kind in sql_database::all(&control.attack.sale.strategy) {
        let url = sql_database::url(control, kind)?;
        // On a busy machine connecting may take as long as the purchases, so it happens before.
        let connection = SqlConnection::open(url, kind).await?;
        killers.push(Box::new(Killer { connection, kind }));
    }
    let has_struck = closed_connections::at_every_step(control, &mut killers).await?;
    Ok(has_begun && has_struck)
}

/// A connection that closes all others.
struct Killer {
    connection: SqlConnection,
    kind: ServiceKind,
}

impl Killer {
    /// Returns how many it closed.
    async fn close_others(&mut self) -> Result<usize> {
        match &mut self.connection {
            SqlConnection::MariaDb(connection) => {
                raw_sql(KILL_ALL).execute(&mut *connection).await?;
                let killed: i64 = query_scalar("select cast(@killed as signed)")
                    .fetch_one(connection)
                    .await?;
                Ok(usize::try_from(killed)?)
            }
            SqlConnection::Postgres(connection) => {
                let ended: Vec<i32> = query_scalar(TERMINATE_ALL).fetch_all(&mut *connection).await?;
                let begun = Instant::now();
                while query_scalar::<_, i64>(LEFT)
                    .bind(&ended)
                    .fetch_one(&mut *connection)
                    .await?
                    > 0
                {
                    ensure!(
                        begun.elapsed() < ENDED_WITHIN,
                        "PostgreSQL does not end its connections"
                    );
                    sleep(CHECK_EVERY).await;
                }
                Ok(ended.len())
            }
        }
    }
}

#[async_trait]
impl CloseConnections for Killer {
    fn server(&self) -> ServiceKind {
        self.kind
    }

    async fn close_all(&mut self, control: &AttackControl<'_>) -> Result<bool> {
        let closed = self.close_others().await?;
        if closed > 0 {
            control.prove(self.kind.name(), format!("it closed {closed} connections"));
        }
        Ok(closed > 0)
    }
}
