//! An instance is killed (SIGKILL, by itself) in the middle of a sale, while others buy: before the write, or at the step
//! that its strategy calls its weakest. It comes back at once; what it held does not come back by itself.

use anyhow::Result;
use async_trait::async_trait;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::faults::crash;
use crate::sale::Load;

pub(super) struct CrashedHolder;

impl Threat for CrashedHolder {
    fn name(&self) -> &'static str {
        "crashed-holder"
    }

    fn title(&self, _instances: usize) -> String {
        "holder crashes".to_owned()
    }

    fn mostly_waits(&self) -> bool {
        true
    }

    fn injection(&self) -> Option<&dyn Injection> {
        Some(self)
    }
}

#[async_trait]
impl Injection for CrashedHolder {
    fn places(&self, load: &Load) -> Vec<usize> {
        crash::places(load)
    }

    /// Those whom the instance was serving when it died.
    fn explains(&self) -> ExplainedUnknowns {
        ExplainedUnknowns::Silence
    }

    async fn act(&self, control: &AttackControl<'_>) -> Result<bool> {
        crash::act(control, &control.attack.sale.strategy.weak_at).await
    }
}
