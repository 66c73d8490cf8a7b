//! MariaDB closes every connection of the shop (KILL) while transactions are under way on some of them, and serves new ones. What
//! was not committed is gone, and so is every lock that a connection held.

use std::time::Duration;

use anyhow::{Context, Result};
use async_trait::async_trait;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, query, query_scalar};
use stack::ServerKind;
use tokio::time::{Instant, sleep};

use super::{Threat, two_waves};
use crate::attack::{Deed, Scene, Sending};
use crate::catalogue::Strategy;
use crate::deeds::{hold, restart};
use crate::load::Load;
use crate::need::{Need, servers};

/// How long one purchase works: well below a lease, so that no lock ends but with its connection.
const WORK: Duration = Duration::from_millis(600);

/// When it is at work.
const AT_WORK_AFTER: Duration = Duration::from_millis(150);

/// How long a transaction is waited for.
const WITHIN: Duration = Duration::from_millis(1_500);

/// Transactions of others, and those who wait for a lock that another connection holds.
const UNDER_WAY: &str = "select (select count(*) from information_schema.innodb_trx where trx_mysql_thread_id <> ?) \
                         + (select count(*) from information_schema.processlist where state = 'User lock')";

/// How often it is looked for: MariaDB's list of transactions stays as it is while it is asked for more often than every
/// 100 ms.
const EVERY: Duration = Duration::from_millis(120);

pub(super) struct SqlGone;

impl Threat for SqlGone {
    fn name(&self) -> &'static str {
        "sql-gone"
    }

    fn title(&self, _instances: usize) -> String {
        "MariaDB hangs up".to_owned()
    }

    fn mostly_waits(&self) -> bool {
        true
    }

    /// Where MariaDB keeps nothing but a lock, it has to be one that a connection holds: others take part in no transaction.
    fn concerns(&self, strategy: &Strategy) -> bool {
        let place = strategy.store;
        let is_session_lock = strategy.family() == "session-lock";
        [place.stock, place.orders].contains(&"sql")
            || is_session_lock && servers(strategy).contains(&ServerKind::MariaDb)
    }

    fn needs(&self, _: &Strategy) -> Vec<Need> {
        vec![Need::Service(ServerKind::MariaDb)]
    }

    fn load(&self, asked: Load) -> Load {
        hold::load(two_waves(asked))
    }

    fn deed(&self) -> Option<&dyn Deed> {
        Some(self)
    }
}

#[async_trait]
impl Deed for SqlGone {
    fn places(&self, load: &Load) -> Vec<usize> {
        hold::places(load)
    }

    /// Those whose connection it was.
    fn excuses_silence(&self) -> bool {
        true
    }

    async fn act(&self, scene: &Scene<'_>) -> Result<bool> {
        // A lock that went with its connection would otherwise let nothing be sold, and that proves nothing.
        let has_begun = restart::sales_begun(scene).await;
        let ours = scene.shop.ours().context("the shop is not ours")?;
        let options: MySqlConnectOptions = ours.stores.sql_url().parse()?;
        let sale = &scene.attack.sale;
        let item = &sale.sales.first().context("nothing is sold")?.item;
        let at_work = Sending {
            work: Some(WORK),
            ..Sending::default()
        };
        // On a machine at work connecting may take as long as the purchase.
        let [holder, killer] = [options.connect().await?, options.connect().await?];
        let hangs_up = async {
            sleep(AT_WORK_AFTER).await;
            hang_up(holder, killer, item).await
        };
        let (held, struck) = tokio::join!(hold::up(scene, at_work, sleep(AT_WORK_AFTER)), hangs_up);
        held?;
        Ok(has_begun && struck?)
    }
}

/// Closes all connections but our own. Whether there was one to close while a transaction was under way.
async fn hang_up(mut holder: MySqlConnection, mut killer: MySqlConnection, item: &str) -> Result<bool> {
    query("set innodb_lock_wait_timeout = 0").execute(&mut holder).await?;
    query("start transaction").execute(&mut holder).await?;
    let is_under_way = anybody_under_way(&mut killer, &mut holder, item).await?;
    let killed = kill_all(&mut killer, &mut holder).await?;
    holder.close().await?;
    Ok(is_under_way && killed > 0)
}

async fn anybody_under_way(killer: &mut MySqlConnection, holder: &mut MySqlConnection, item: &str) -> Result<bool> {
    let holder_id = id(holder).await?;
    let until = Instant::now() + WITHIN;
    while Instant::now() < until {
        hold_up(holder, item).await;
        let others: i64 = query_scalar(UNDER_WAY).bind(holder_id).fetch_one(&mut *killer).await?;
        if others > 0 {
            return Ok(true);
        }
        sleep(EVERY).await;
    }
    Ok(false)
}

/// Whoever writes the stock of the item, or an order for it, waits in its transaction from now on.
async fn hold_up(holder: &mut MySqlConnection, item: &str) {
    for lock in [
        "select id from store where id = ? for update",
        "select id from orders where item = ? for update",
    ] {
        // What cannot be locked is locked by a transaction that is under way, and by none when the next try comes.
        let _ = query(lock).bind(item).fetch_all(&mut *holder).await;
    }
}

/// How many connections were closed.
async fn kill_all(killer: &mut MySqlConnection, holder: &mut MySqlConnection) -> Result<usize> {
    let ours = [id(killer).await?, id(holder).await?];
    let all: Vec<i64> =
        query_scalar("select cast(id as signed) from information_schema.processlist where command <> 'Daemon'")
            .fetch_all(&mut *killer)
            .await?;
    let others = all.into_iter().filter(|id| !ours.contains(id));
    let mut killed = 0;
    for other in others {
        // It may have ended by itself.
        let gone = query(AssertSqlSafe(format!("kill {other}")))
            .execute(&mut *killer)
            .await;
        killed += usize::from(gone.is_ok());
    }
    Ok(killed)
}

async fn id(connection: &mut MySqlConnection) -> Result<i64> {
    Ok(query_scalar("select cast(connection_id() as signed)")
        .fetch_one(connection)
        .await?)
}
