//! An instance stops (SIGSTOP, by itself) when a purchase is about to write, for longer than any lease, and goes on (SIGCONT)
//! as if no time had passed, while others buy at the other one. Nobody in it can know, and its buyer is answered.

use anyhow::Result;
use async_trait::async_trait;

use super::{Threat, two_waves};
use crate::attack::{Deed, Scene};
use crate::audit::Excuses;
use crate::catalogue::Strategy;
use crate::deeds::hold;
use crate::deeds::stand_still::{self, Still};
use crate::load::Load;

pub(super) struct PausedHolder;

impl Threat for PausedHolder {
    fn name(&self) -> &'static str {
        "paused-holder"
    }

    fn title(&self, _instances: usize) -> String {
        "holder is paused".to_owned()
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
impl Deed for PausedHolder {
    fn places(&self, load: &Load) -> Vec<usize> {
        hold::places(load)
    }

    fn excuses(&self) -> Excuses {
        Excuses::Nothing
    }

    async fn act(&self, scene: &Scene<'_>) -> Result<bool> {
        stand_still::act(scene, Still::Pause).await
    }
}
