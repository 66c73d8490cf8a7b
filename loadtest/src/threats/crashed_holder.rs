//! An instance is killed (SIGKILL, by itself) in the middle of a sale, while others buy: before the write, or at the step
//! that its strategy calls its weakest. It comes back at once; what it held does not come back by itself.

use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;

use super::{Threat, smallest_crowd_of_instances};
use crate::answer::Word;
use crate::attack::{Deed, Scene};
use crate::load::Load;

/// Buyers of a crash: each of them may have to wait out a lease.
const BUYERS: usize = 16;

/// How long after an answer the death of an instance may be noticed: after one of the shop's own, and after silence.
const DIES_WITHIN: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];

pub(super) struct CrashedHolder;

impl Threat for CrashedHolder {
    fn name(&self) -> &'static str {
        "crashed-holder"
    }

    fn title(&self, _instances: usize) -> String {
        "holder crashes".to_owned()
    }

    fn instances(&self, counts: &[usize]) -> Vec<usize> {
        smallest_crowd_of_instances(counts).into_iter().collect()
    }

    fn mostly_waits(&self) -> bool {
        true
    }

    /// Two waves: the first has the crash in it and cannot sell everything, the second wants more than is left.
    fn load(&self, asked: Load) -> Load {
        let buyers = asked.buyers.min(BUYERS);
        Load {
            buyers,
            requests: buyers * 2,
            stock: (buyers + buyers / 4) as i64 * i64::from(asked.quantity),
            ..asked
        }
    }

    fn deed(&self) -> Option<&dyn Deed> {
        Some(self)
    }
}

#[async_trait]
impl Deed for CrashedHolder {
    fn places(&self, load: &Load) -> Vec<usize> {
        vec![load.buyers / 2]
    }

    /// Those whom the instance was serving when it died.
    fn excuses_silence(&self) -> bool {
        true
    }

    async fn act(&self, scene: &Scene<'_>) -> Result<bool> {
        let deaths = scene.shop.watch().await;
        let has_died = |word| {
            let [after_answer, after_silence] = DIES_WITHIN;
            let within = if word == Word::Unknown {
                after_silence
            } else {
                after_answer
            };
            deaths.died(within)
        };
        let place = scene.attack.sale.load.buyers / 2;
        let fault = format!("crash@{}", scene.attack.sale.strategy.weak_at);
        scene.provoke(place, &fault, has_died).await
    }
}
