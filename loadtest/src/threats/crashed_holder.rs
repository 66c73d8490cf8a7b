//! An instance is killed (SIGKILL, by itself) in the middle of a sale, while others buy: before the write, or at the step
//! that its strategy calls its weakest. It comes back at once; what it held does not come back by itself.

use anyhow::Result;
use async_trait::async_trait;

use super::Threat;
use crate::attack::{Deed, Scene};
use crate::audit::Excuses;
use crate::deeds::crash;
use crate::load::Load;

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

    fn deed(&self) -> Option<&dyn Deed> {
        Some(self)
    }
}

#[async_trait]
impl Deed for CrashedHolder {
    fn places(&self, load: &Load) -> Vec<usize> {
        crash::places(load)
    }

    /// Those whom the instance was serving when it died.
    fn excuses(&self) -> Excuses {
        Excuses::Silence
    }

    async fn act(&self, scene: &Scene<'_>) -> Result<bool> {
        crash::act(scene, &scene.attack.sale.strategy.weak_at).await
    }
}
