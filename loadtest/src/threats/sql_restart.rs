//! MariaDB is killed (SIGKILL) while a purchase is at work, and started again: what was committed is there, and nothing else,
//! no lock either.

use anyhow::Result;
use async_trait::async_trait;
use stack::ServerKind;

use super::{Threat, two_waves};
use crate::attack::{Deed, Scene};
use crate::catalogue::Strategy;
use crate::deeds::{hold, restart};
use crate::load::Load;
use crate::need::{Need, servers};

pub(super) struct SqlRestart;

impl Threat for SqlRestart {
    fn name(&self) -> &'static str {
        "sql-restart"
    }

    fn title(&self, _instances: usize) -> String {
        "MariaDB restarts".to_owned()
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
        hold::load(two_waves(asked))
    }

    fn deed(&self) -> Option<&dyn Deed> {
        Some(self)
    }
}

#[async_trait]
impl Deed for SqlRestart {
    fn places(&self, load: &Load) -> Vec<usize> {
        hold::places(load)
    }

    /// Those whom the shop was serving meanwhile.
    fn excuses_silence(&self) -> bool {
        true
    }

    async fn act(&self, scene: &Scene<'_>) -> Result<bool> {
        restart::act(scene, ServerKind::MariaDb).await
    }
}
