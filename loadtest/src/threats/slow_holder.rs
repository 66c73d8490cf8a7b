//! One purchase works for longer than any lease, while its process is alive and others buy: whoever renews its lock keeps it.

use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;
use tokio::time::sleep;

use super::{Threat, two_waves};
use crate::attack::{AttackControl, Injection, SendOptions};
use crate::audit::ExplainedUnknowns;
use crate::faults::hold;
use crate::sale::Load;
use crate::shop::catalogue::Strategy;

/// When it is at work, and the others come.
const AT_WORK_AFTER: Duration = Duration::from_millis(300);

pub(super) struct SlowHolder;

impl Threat for SlowHolder {
    fn name(&self) -> &'static str {
        "slow-holder"
    }

    fn title(&self, _instances: usize) -> String {
        "holder is slow".to_owned()
    }

    fn mostly_waits(&self) -> bool {
        true
    }

    fn load(&self, asked: Load, _: &Strategy) -> Load {
        hold::load(two_waves(asked))
    }

    fn injection(&self) -> Option<&dyn Injection> {
        Some(self)
    }
}

#[async_trait]
impl Injection for SlowHolder {
    fn places(&self, load: &Load) -> Vec<usize> {
        hold::places(load)
    }

    fn explains(&self) -> ExplainedUnknowns {
        ExplainedUnknowns::Nothing
    }

    /// Who was told something sooner has not worked for so long, or not at all.
    async fn act(&self, control: &AttackControl<'_>) -> Result<bool> {
        let options = SendOptions {
            work: Some(hold::LASTS),
            ..SendOptions::default()
        };
        let response = hold::up(control, options, sleep(AT_WORK_AFTER)).await?;
        Ok(response.is_some_and(|response| response.ended.duration_since(response.sent) >= hold::LASTS))
    }
}
