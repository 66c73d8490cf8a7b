//! An instance is killed (SIGKILL, by itself) when stock was taken and the order is not entered yet, where these are two steps.

use anyhow::Result;
use async_trait::async_trait;

use super::Threat;
use crate::attack::{Deed, Scene};
use crate::audit::Excuses;
use crate::catalogue::Strategy;
use crate::deeds::crash;
use crate::load::Load;

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

    fn deed(&self) -> Option<&dyn Deed> {
        Some(self)
    }
}

#[async_trait]
impl Deed for CrashedBetween {
    fn places(&self, load: &Load) -> Vec<usize> {
        crash::places(load)
    }

    /// Those whom the instance was serving when it died.
    fn excuses(&self) -> Excuses {
        Excuses::Silence
    }

    async fn act(&self, scene: &Scene<'_>) -> Result<bool> {
        match &scene.attack.sale.strategy.record_at {
            Some(step) => crash::act(scene, step).await,
            None => Ok(false),
        }
    }
}
