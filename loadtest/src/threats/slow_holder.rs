//! One purchase works for longer than any lease, while its process is alive and others buy: whoever renews its lock keeps it.

use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;
use tokio::time::sleep;

use super::{Threat, two_waves};
use crate::attack::{Deed, Scene, Sending};
use crate::audit::Excuses;
use crate::catalogue::Strategy;
use crate::deeds::hold;
use crate::load::Load;

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

    fn deed(&self) -> Option<&dyn Deed> {
        Some(self)
    }
}

#[async_trait]
impl Deed for SlowHolder {
    fn places(&self, load: &Load) -> Vec<usize> {
        hold::places(load)
    }

    fn excuses(&self) -> Excuses {
        Excuses::Nothing
    }

    /// Who was told something sooner has not worked for so long, or not at all.
    async fn act(&self, scene: &Scene<'_>) -> Result<bool> {
        let sending = Sending {
            work: Some(hold::LASTS),
            ..Sending::default()
        };
        let answer = hold::up(scene, sending, sleep(AT_WORK_AFTER)).await?;
        Ok(answer.is_some_and(|answer| answer.ended.duration_since(answer.sent) >= hold::LASTS))
    }
}
