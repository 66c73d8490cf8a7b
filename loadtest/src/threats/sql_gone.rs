//! MariaDB closes every connection of the shop (KILL) just when a purchase is about to take each of the steps that there are, or
//! has taken it and has not heard so, and serves new ones. What was not committed is gone, and so is every lock that a
//! connection held. Others buy before the purchase goes on.

use anyhow::{Context, Result};
use async_trait::async_trait;
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection};
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, query, query_scalar};
use stack::ServerKind;

use super::Threat;
use crate::attack::{Deed, Scene};
use crate::catalogue::Strategy;
use crate::deeds::hang_up::HangUp;
use crate::deeds::{every_step, hang_up, restart};
use crate::load::Load;
use crate::need::{Need, servers};

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
        hang_up::needs()
    }

    fn load(&self, asked: Load, strategy: &Strategy) -> Load {
        hang_up::load(asked, strategy)
    }

    fn deed(&self) -> Option<&dyn Deed> {
        Some(self)
    }
}

#[async_trait]
impl Deed for SqlGone {
    fn places(&self, load: &Load) -> Vec<usize> {
        every_step::places(load)
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
        // On a machine at work connecting may take as long as the purchases.
        let mut killer = Killer(options.connect().await?);
        let has_struck = hang_up::at_every_step(scene, &mut killer).await?;
        killer.0.close().await?;
        Ok(has_begun && has_struck)
    }
}

/// A connection that closes all others.
struct Killer(MySqlConnection);

#[async_trait]
impl HangUp for Killer {
    async fn hang_up(&mut self, _: &Scene<'_>) -> Result<bool> {
        let killer = &mut self.0;
        let ours: i64 = query_scalar("select cast(connection_id() as signed)")
            .fetch_one(&mut *killer)
            .await?;
        let all: Vec<i64> =
            query_scalar("select cast(id as signed) from information_schema.processlist where command <> 'Daemon'")
                .fetch_all(&mut *killer)
                .await?;
        let mut killed = 0;
        for other in all.into_iter().filter(|id| *id != ours) {
            // It may have ended by itself.
            let gone = query(AssertSqlSafe(format!("kill {other}")))
                .execute(&mut *killer)
                .await;
            killed += usize::from(gone.is_ok());
        }
        Ok(killed > 0)
    }
}
