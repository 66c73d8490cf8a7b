//! Every thread on which an instance carries out purchases is blocked when one of them is about to write, for longer than any
//! lease, as by a call that does not yield: the process runs, and no renewal in it does.

use anyhow::Result;
use async_trait::async_trait;

use super::{Threat, two_waves};
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::faults::hold;
use crate::faults::stand_still::{self, Still};
use crate::sale::Load;
use crate::shop::catalogue::Strategy;

pub(super) struct BlockedRuntime;

impl Threat for BlockedRuntime {
    fn name(&self) -> &'static str {
        "blocked-runtime"
    }

    fn title(&self, _instances: usize) -> String {
        "runtime is blocked".to_owned()
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
impl Injection for BlockedRuntime {
    fn places(&self, load: &Load) -> Vec<usize> {
        hold::places(load)
    }

    fn explains(&self) -> ExplainedUnknowns {
        ExplainedUnknowns::Nothing
    }

    async fn act(&self, control: &AttackControl<'_>) -> Result<bool> {
        stand_still::act(control, Still::Block).await
    }
}
