//! An instance is killed (SIGKILL, by itself) when stock was taken and the order is not entered yet, where these are two steps.

use anyhow::Result;
use async_trait::async_trait;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::faults::crash;
use crate::sale::Load;
use crate::shop::catalogue::Strategy;

pub(super) struct CrashedBetween;

impl Threat for CrashedBetween {
    fn name(&self) -> &'static str {
        "crashed-between"
    }

    fn title(&self, _instances: usize) -> String {
        "crash between steps".to_owned()
    }

    fn mostly_waits(&self) -> bool {
        true
    }

    fn concerns(&self, strategy: &Strategy) -> bool {
        strategy.record_at.is_some()
    }

    fn injection(&self) -> Option<&dyn Injection> {
        Some(self)
    }
}

#[async_trait]
impl Injection for CrashedBetween {
    fn places(&self, load: &Load) -> Vec<usize> {
        crash::places(load)
    }

    /// Those whom the instance was serving when it died.
    fn explains(&self) -> ExplainedUnknowns {
        ExplainedUnknowns::Silence
    }

    async fn act(&self, control: &AttackControl<'_>) -> Result<bool> {
        match &control.attack.sale.strategy.record_at {
            Some(step) => crash::act(control, step).await,
            None => Ok(false),
        }
    }
}
