//! The stores are told what to do and do it, and what they answer never arrives, just when a purchase is about to take each of
//! the steps that there are; then the connections end, and others buy.

use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;
use stack::Relay;
use tokio::time::sleep;

use super::Threat;
use crate::attack::{Deed, Scene};
use crate::audit::Excuses;
use crate::catalogue::Strategy;
use crate::deeds::{every_step, relays, restart};
use crate::load::Load;
use crate::need::{Need, servers};

/// The items of each moment: one is taken over when all are answered, one is bought by others as soon as replies arrive again.
const LEFT: usize = 0;
const DISPUTED: usize = 1;

/// How long each purchase is held up: below a lease, so that it goes on while replies are lost.
const HELD_UP: Duration = Duration::from_millis(400);

/// How long the others work who come then.
const WORK: Duration = Duration::from_millis(100);

/// For how long: until the commands of all of them were carried out.
const LASTS: Duration = Duration::from_millis(400);

pub(super) struct LostReply;

impl Threat for LostReply {
    fn name(&self) -> &'static str {
        "lost-reply"
    }

    fn title(&self, _instances: usize) -> String {
        "replies are lost".to_owned()
    }

    fn mostly_waits(&self) -> bool {
        true
    }

    fn needs(&self, strategy: &Strategy) -> Vec<Need> {
        servers(strategy).into_iter().map(Need::Relay).collect()
    }

    fn load(&self, asked: Load, strategy: &Strategy) -> Load {
        every_step::load(asked, strategy, 2)
    }

    fn deed(&self) -> Option<&dyn Deed> {
        Some(self)
    }
}

#[async_trait]
impl Deed for LostReply {
    fn places(&self, load: &Load) -> Vec<usize> {
        every_step::places(load)
    }

    /// Those whom the shop was serving meanwhile.
    fn excuses(&self) -> Excuses {
        Excuses::Ignorance
    }

    async fn act(&self, scene: &Scene<'_>) -> Result<bool> {
        let has_begun = restart::sales_begun(scene).await;
        let relays = relays::of(scene)?;
        let losing = async || {
            relays.all().for_each(Relay::lose_replies);
            sleep(LASTS).await;
            let was_lost = relays.any_affected();
            relays.all().for_each(Relay::pass);
            was_lost
        };
        let left = every_step::meets(scene, LEFT, HELD_UP, async { Ok(losing().await) }).await?;
        every_step::taken_over(scene, LEFT).await?;
        let disputed = async {
            let was_lost = losing().await;
            every_step::others(scene, DISPUTED, WORK).await?;
            Ok(was_lost)
        };
        let disputed = every_step::meets(scene, DISPUTED, HELD_UP, disputed).await?;
        Ok(has_begun && left && disputed)
    }
}
