//! MariaDB closes every connection of the shop (KILL) while transactions are under way on some of them, and serves new ones. What
//! was not committed is gone, and so is every lock that a connection held.

use std::time::Duration;

use anyhow::{Context, Result};
use async_trait::async_trait;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, query, query_scalar};
use stack::ServerKind;
use tokio::time::{Instant, sleep};

use super::{Threat, smallest_crowd_of_instances, two_waves};
use crate::attack::{Deed, Scene, Sending};
use crate::catalogue::Strategy;
use crate::load::Load;
use crate::need::{Need, servers};

/// How long one purchase works: its lock, if it has one, is held by a connection meanwhile.
const WORK: Duration = Duration::from_secs(1);

/// When it is at work.
const AT_WORK_AFTER: Duration = Duration::from_millis(300);

/// How long a transaction is waited for.
const WITHIN: Duration = Duration::from_millis(600);

/// How often it is looked for.
const EVERY: Duration = Duration::from_millis(10);

pub(super) struct SqlGone;

impl Threat for SqlGone {
    fn name(&self) -> &'static str {
        "sql-gone"
    }

    fn title(&self, _instances: usize) -> String {
        "MariaDB hangs up".to_owned()
    }

    fn instances(&self, counts: &[usize]) -> Vec<usize> {
        smallest_crowd_of_instances(counts).into_iter().collect()
    }

    fn mostly_waits(&self) -> bool {
        true
    }

    fn concerns(&self, strategy: &Strategy) -> bool {
        servers(strategy).contains(&ServerKind::MariaDb)
    }

    fn needs(&self, _: &Strategy) -> Vec<Need> {
        vec![Need::Service(ServerKind::MariaDb)]
    }

    fn load(&self, asked: Load) -> Load {
        two_waves(asked)
    }

    fn deed(&self) -> Option<&dyn Deed> {
        Some(self)
    }
}

#[async_trait]
impl Deed for SqlGone {
    fn places(&self, load: &Load) -> Vec<usize> {
        vec![load.buyers / 2]
    }

    /// Those whose connection it was.
    fn excuses_silence(&self) -> bool {
        true
    }

    async fn act(&self, scene: &Scene<'_>) -> Result<bool> {
        let ours = scene.shop.ours().context("the shop is not ours")?;
        let options: MySqlConnectOptions = ours.stores.sql_url().parse()?;
        let sale = &scene.attack.sale;
        let item = &sale.sales.first().context("nothing is sold")?.item;
        let at_work = Sending {
            work: Some(WORK),
            ..Sending::default()
        };
        let hangs_up = async {
            sleep(AT_WORK_AFTER).await;
            let [mut holder, mut killer] = [options.connect().await?, options.connect().await?];
            hold_up(&mut holder, item).await?;
            let is_under_way = anybody_under_way(&mut killer, &mut holder).await?;
            let killed = kill_all(&mut killer, &mut holder).await?;
            holder.close().await?;
            Ok(is_under_way && killed > 0)
        };
        scene.begin();
        let (_, struck) = tokio::join!(scene.send(sale.load.buyers / 2, at_work), hangs_up);
        struck
    }
}

/// Whoever writes the stock of the item, or an order for it, waits in its transaction from now on; not if somebody else has
/// locked it, who is in one then.
async fn hold_up(holder: &mut MySqlConnection, item: &str) -> Result<()> {
    query("set innodb_lock_wait_timeout = 0").execute(&mut *holder).await?;
    query("start transaction").execute(&mut *holder).await?;
    for lock in [
        "select id from store where id = ? for update",
        "select id from orders where item = ? for update",
    ] {
        // What cannot be locked is locked by a transaction that is under way.
        let _ = query(lock).bind(item).fetch_all(&mut *holder).await;
    }
    Ok(())
}

async fn anybody_under_way(killer: &mut MySqlConnection, holder: &mut MySqlConnection) -> Result<bool> {
    let holder_id = id(holder).await?;
    let until = Instant::now() + WITHIN;
    while Instant::now() < until {
        let others = "select count(*) from information_schema.innodb_trx where trx_mysql_thread_id <> ?";
        let others: i64 = query_scalar(others).bind(holder_id).fetch_one(&mut *killer).await?;
        if others > 0 {
            return Ok(true);
        }
        sleep(EVERY).await;
    }
    Ok(false)
}

/// How many connections were closed.
async fn kill_all(killer: &mut MySqlConnection, holder: &mut MySqlConnection) -> Result<usize> {
    let ours = [id(killer).await?, id(holder).await?];
    let all: Vec<i64> = query_scalar("select id from information_schema.processlist where command <> 'Daemon'")
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
    Ok(query_scalar("select connection_id()").fetch_one(connection).await?)
}
