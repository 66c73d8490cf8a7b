//! An instance stops (SIGSTOP, by itself) when a purchase is about to write, for longer than any lease, and goes on (SIGCONT)
//! as if no time had passed, while others buy at the other one. Nobody in it can know, and its buyer is answered.

use anyhow::Result;
use async_trait::async_trait;

use super::{Threat, two_waves};
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::faults::hold;
use crate::faults::stand_still::{self, Still};
use crate::sale::Load;
use crate::shop::catalogue::Strategy;

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

    fn injection(&self) -> Option<&dyn Injection> {
        Some(self)
    }
}

#[async_trait]
impl Injection for PausedHolder {
    fn places(&self, load: &Load) -> Vec<usize> {
        hold::places(load)
    }

    fn explains(&self) -> ExplainedUnknowns {
        ExplainedUnknowns::Nothing
    }

    async fn act(&self, control: &AttackControl<'_>) -> Result<bool> {
        stand_still::act(control, Still::Pause).await
    }
}
