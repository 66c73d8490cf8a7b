//! While a purchase is at work at the first instance, the clock of the second one and those of the stores jump ahead, by
//! more than any lease; then others buy. A store that ends leases by its clock ends them then.

use std::time::Duration;

use anyhow::{Context, Result};
use async_trait::async_trait;
use stack::{Clock, Service};
use tokio::time::sleep;

use super::{Threat, two_waves};
use crate::attack::{Deed, Scene, Sending};
use crate::audit::Excuses;
use crate::catalogue::Strategy;
use crate::deeds::hold;
use crate::load::Load;
use crate::need::Need;

/// How far they jump: three leases of our own shop.
const JUMP: Duration = Duration::from_secs(3);

/// How long the purchase works: well below a lease, so that no lock ends but by a clock.
const WORK: Duration = Duration::from_millis(800);

/// When it is at work.
const AT_WORK_AFTER: Duration = Duration::from_millis(300);

pub(super) struct ClockJump;

impl Threat for ClockJump {
    fn name(&self) -> &'static str {
        "clock-jump"
    }

    fn title(&self, _instances: usize) -> String {
        "clocks jump".to_owned()
    }

    fn mostly_waits(&self) -> bool {
        true
    }

    fn needs(&self, _: &Strategy) -> Vec<Need> {
        vec![Need::Clocks]
    }

    fn load(&self, asked: Load, _: &Strategy) -> Load {
        hold::load(two_waves(asked))
    }

    fn deed(&self) -> Option<&dyn Deed> {
        Some(self)
    }
}

#[async_trait]
impl Deed for ClockJump {
    fn places(&self, load: &Load) -> Vec<usize> {
        hold::places(load)
    }

    fn excuses(&self) -> Excuses {
        Excuses::Nothing
    }

    /// It struck where each of them told a time that was ahead.
    async fn act(&self, scene: &Scene<'_>) -> Result<bool> {
        let ours = scene.shop.ours().context("the shop is not ours")?;
        let second = ours.shop.instances().get(1);
        let all: Vec<&Clock> = [second, ours.stores.redis(), ours.stores.mariadb()]
            .into_iter()
            .flatten()
            .filter_map(Service::clock)
            .collect();
        let holder = Sending {
            work: Some(WORK),
            ..Sending::default()
        };
        let mut jumped = Ok(());
        let jump = async {
            sleep(AT_WORK_AFTER).await;
            jumped = all.iter().try_for_each(|clock| clock.run_ahead(JUMP));
        };
        hold::up(scene, holder, jump).await?;
        jumped?;
        let told = all.iter().map(|clock| clock.told()).collect::<Result<Vec<_>>>()?;
        Ok(told.len() == 3 && told.iter().all(|told| *told > 0))
    }
}
