//! Buyers click twice: several purchases come to two instances at one moment, with one idempotency key. One wish is one order.

use anyhow::Result;
use async_trait::async_trait;
use futures_util::future::try_join_all;

use super::Threat;
use crate::answer::Answer;
use crate::attack::{Deed, Delivery, Heard, Scene, Sending};
use crate::audit::Excuses;
use crate::load::Load;

/// Every so many buyers of the first wave clicks twice.
const EVERY: usize = 4;

pub(super) struct SecondClick;

impl Threat for SecondClick {
    fn name(&self) -> &'static str {
        "second-click"
    }

    fn title(&self, _instances: usize) -> String {
        "second click".to_owned()
    }

    fn deed(&self) -> Option<&dyn Deed> {
        Some(self)
    }
}

#[async_trait]
impl Deed for SecondClick {
    fn places(&self, load: &Load) -> Vec<usize> {
        (0..load.buyers).step_by(EVERY).collect()
    }

    fn excuses(&self) -> Excuses {
        Excuses::Nothing
    }

    /// It struck where two instances had one purchase at the same moment.
    async fn act(&self, scene: &Scene<'_>) -> Result<bool> {
        let twice = Sending {
            delivery: Delivery::AtTwoInstances,
            ..Sending::default()
        };
        let places = self.places(&scene.attack.sale.load);
        scene.begin();
        let heard = try_join_all(places.into_iter().map(|place| scene.send(place, twice.clone()))).await?;
        Ok(heard.into_iter().flatten().any(|heard| met_elsewhere(&heard)))
    }
}

fn met_elsewhere(Heard { answer, copy }: &Heard) -> bool {
    let at_once = |copy: &Answer| answer.sent < copy.ended && copy.sent < answer.ended;
    let elsewhere =
        |copy: &Answer| answer.instance.is_some() && copy.instance.is_some() && answer.instance != copy.instance;
    copy.as_ref().is_some_and(|copy| at_once(copy) && elsewhere(copy))
}
