//! One purchase works for longer than any lease, while its process is alive and others buy: whoever renews its lock keeps it.

use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;

use super::{Threat, smallest_crowd_of_instances, two_waves};
use crate::answer::Answer;
use crate::attack::{Deed, Scene, Sending};
use crate::load::Load;

/// How long the purchase works: three leases of our own shop.
const WORK: Duration = Duration::from_secs(3);

pub(super) struct SlowHolder;

impl Threat for SlowHolder {
    fn name(&self) -> &'static str {
        "slow-holder"
    }

    fn title(&self, _instances: usize) -> String {
        "holder is slow".to_owned()
    }

    fn instances(&self, counts: &[usize]) -> Vec<usize> {
        smallest_crowd_of_instances(counts).into_iter().collect()
    }

    fn mostly_waits(&self) -> bool {
        true
    }

    fn load(&self, asked: Load) -> Load {
        two_waves(asked)
    }

    fn deed(&self) -> Option<&dyn Deed> {
        Some(self)
    }
}

#[async_trait]
impl Deed for SlowHolder {
    fn places(&self, load: &Load) -> Vec<usize> {
        vec![load.buyers / 2]
    }

    fn excuses_silence(&self) -> bool {
        false
    }

    /// Who was told something sooner has not worked for so long, or not at all.
    async fn act(&self, scene: &Scene<'_>) -> Result<bool> {
        let sending = Sending {
            work: Some(WORK),
            ..Sending::default()
        };
        let has_worked = |answer: Answer| async move { answer.ended.duration_since(answer.sent) >= WORK };
        scene
            .provoke(scene.attack.sale.load.buyers / 2, sending, has_worked)
            .await
    }
}
