//! The same mechanisms at each level of both databases: every interleaving of two purchases.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use sqlx::{Connection, MySqlConnection, PgConnection, raw_sql};
use stack::{ServiceKind, Stores};

use crate::arrivals::Arrivals;
use crate::bounds::Bounds;
use crate::play::Player;
use crate::search::search;

/// Mechanisms that leave the level to the database: three that lock nothing, one that locks the row, and two that read before they
/// are alone.
pub const MECHANISMS: [&str; 6] = [
    "lost-update",
    "compare-num",
    "conditional",
    "for-update",
    "snapshot-before-lock",
    "retry-in-snapshot",
];

/// The levels that a server can give to each transaction that asks for none.
pub const DEFAULTS: [&str; 4] = ["read uncommitted", "read committed", "repeatable read", "serializable"];

/// Its read of an order that is not there locks a gap between other orders, whose ids are random. So it is random who waits, and a
/// schedule cannot be played twice.
const UNPLAYED: (ServiceKind, &str, &str) = (ServiceKind::Sql, "serializable", "snapshot-before-lock");

/// The most times that a schedule interrupts a purchase that could go on.
const PREEMPTIONS: usize = 2;

/// The most schedules of one mechanism at one level.
const SCHEDULES: u64 = 3_000;

/// What the schedules of a mechanism showed at one level.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Explored {
    /// `mechanism@store`
    pub strategy: String,
    /// The level, see [`DEFAULTS`].
    pub level: String,
    /// The schedules that were played.
    pub schedules: u64,
    /// Those of them that oversell, lose an order, or break another promise.
    pub violated: u64,
    /// Whether these were all within the bound.
    pub is_exhausted: bool,
}

/// Plays each mechanism at each level of the database of that kind, [`ServiceKind::Sql`] or [`ServiceKind::Pg`].
///
/// # Errors
/// When the database was not started here or does not answer.
pub async fn explore(of: ServiceKind, stores: &Stores) -> Result<Vec<Explored>> {
    let mut all = Vec::new();
    for level in DEFAULTS {
        set_default(of, level, stores).await?;
        for mechanism in MECHANISMS {
            if (of, level, mechanism) == UNPLAYED {
                continue;
            }
            let strategy = format!("{mechanism}@{}", of.name());
            let bounds = Bounds {
                preemptions: Some(PREEMPTIONS),
                events: 0,
                kinds: Vec::new(),
                is_reduced: false,
                are_alike: true,
                schedules: SCHEDULES,
            };
            let arrivals = Arrivals {
                purchases: 2,
                instances: 2,
            };
            let mut player = Player::open(&strategy, arrivals, &[], stores).await?;
            let found = search(&mut player, &bounds).await?;
            all.push(Explored {
                strategy,
                level: level.to_owned(),
                schedules: found.schedules,
                violated: found.violated,
                is_exhausted: found.is_exhausted,
            });
        }
    }
    Ok(all)
}

/// Gives that level to each transaction of a later connection that asks for none.
async fn set_default(of: ServiceKind, level: &str, stores: &Stores) -> Result<()> {
    let url = stores.url(of).with_context(|| format!("{of} was not started"))?;
    if of == ServiceKind::Pg {
        let mut pg = PgConnection::connect(url).await?;
        let set = format!("alter system set default_transaction_isolation = '{level}'");
        raw_sql(sqlx::AssertSqlSafe(set)).execute(&mut pg).await?;
        // A connection that begins later may still come before the server has read it, so ask until one has it.
        raw_sql("select pg_reload_conf()").execute(&mut pg).await?;
        loop {
            let mut later = PgConnection::connect(url).await?;
            let shown = sqlx::query_scalar("show default_transaction_isolation");
            let shown: String = shown.fetch_one(&mut later).await?;
            if shown == level {
                break;
            }
        }
    } else {
        let mut sql = MySqlConnection::connect(url).await?;
        let set = format!("set global transaction isolation level {level}");
        raw_sql(sqlx::AssertSqlSafe(set)).execute(&mut sql).await?;
    }
    Ok(())
}
