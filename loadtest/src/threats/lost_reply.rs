//! The stores are told what to do and do it, and what they answer never arrives, just when a purchase is about to take each of
//! the steps that there are; then the connections end, and others buy.

use std::time::Duration;

use anyhow::Result;
use stack::Relay;
use tokio::time::sleep;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::{Requirement, servers};
use crate::faults::{every_step, relays, restart};

/// The items of each moment: one is taken over when all are answered, one is bought by others as soon as replies arrive again.
const LEFT: usize = 0;
const DISPUTED: usize = 1;

/// How long each purchase is held up: below a lease, so that it goes on while replies are lost.
const HELD_UP: Duration = Duration::from_millis(400);

/// How long the others work who come then.
const WORK: Duration = Duration::from_millis(100);

/// For how long: until the commands of all of them were carried out.
const LASTS: Duration = Duration::from_millis(400);

pub(super) const THREAT: Threat = Threat {
    name: "lost-reply",
    title: "replies are lost",
    mostly_waits: true,
    load: |asked, strategy| every_step::load(asked, strategy, 2),
    requires: |strategy| servers(strategy).into_iter().map(Requirement::Relay).collect(),
    injection: Some(Injection {
        places: every_step::places,
        explains: ExplainedUnknowns::All,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("lost_reply.rs"),
    ..Threat::PLAIN
};

async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let has_begun = restart::sales_begun(control).await;
    let relays = relays::of(control)?;
    let losing = async || {
        relays.all().for_each(Relay::lose_replies);
        sleep(LASTS).await;
        let was_lost = relays.any_affected();
        relays.all().for_each(Relay::pass);
        was_lost
    };
    let left = every_step::meets(control, LEFT, HELD_UP, async { Ok(losing().await) }).await?;
    every_step::taken_over(control, LEFT).await?;
    let disputed = async {
        let was_lost = losing().await;
        every_step::others(control, DISPUTED, WORK).await?;
        Ok(was_lost)
    };
    let disputed = every_step::meets(control, DISPUTED, HELD_UP, disputed).await?;
    Ok(has_begun && left && disputed)
}
