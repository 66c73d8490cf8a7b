//! The stores and lock services carry out every command, and their replies are lost. This begins when a purchase is about
//! to take each of the steps of its strategy. Then the connections are closed, and others buy. A service that only
//! background workers talk with gets no command while the replies of the others are lost: its replies are lost once more,
//! alone. The round counts only if replies were lost each time, and replies of each of them at least once.

use std::time::{Duration, Instant};

use anyhow::Result;
use stack::Relay;
use tokio::time::sleep;

use super::Threat;
use crate::attack::{AttackControl, Injection};
use crate::audit::ExplainedUnknowns;
use crate::deployment::requirement::{Requirement, servers};
use crate::faults::relays::{self, Relays};
use crate::faults::{every_step, restart};
use crate::trace::IncidentKind;

/// Two items for each moment: others buy the first one after all responses, and the second one as soon as replies
/// arrive again.
const BOUGHT_AFTER: usize = 0;
const BOUGHT_MEANWHILE: usize = 1;

/// The delay of each purchase: below a lease, so that the purchase goes on while replies are lost.
const DELAY: Duration = Duration::from_millis(400);

/// The business time of the other buyers.
const WORK: Duration = Duration::from_millis(100);

/// The time for which replies are lost: until the commands of all purchases were carried out.
const LOST_FOR: Duration = Duration::from_millis(400);

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
    let mut has_struck = restart::play_first_wave(control).await;
    let relays = relays::of_strategy(control)?;
    let batches = every_step::batches(&control.attack.sale.strategy);
    for batch in &batches {
        let items = batch.nth(BOUGHT_AFTER);
        let losing = async { Ok(lose_replies(control, &relays).await) };
        has_struck &= every_step::disturb_delayed(control, items, DELAY, losing).await?;
        every_step::send_successors(control, items).await?;
        let items = batch.nth(BOUGHT_MEANWHILE);
        let meanwhile = async {
            let was_lost = lose_replies(control, &relays).await;
            every_step::send_others(control, items, WORK).await?;
            Ok(was_lost)
        };
        has_struck &= every_step::disturb_delayed(control, items, DELAY, meanwhile).await?;
    }
    for alone in relays.unproven(control) {
        let items = batches[0].nth(BOUGHT_AFTER);
        let buying = every_step::send_others(control, items, Duration::ZERO);
        let (_, bought) = tokio::join!(lose_replies(control, &alone), buying);
        bought?;
        every_step::send_successors(control, items).await?;
    }
    Ok(has_struck && relays.each_is_proven(control))
}

/// Loses all replies through these relays for a while. Returns whether there were any.
async fn lose_replies(control: &AttackControl<'_>, relays: &Relays<'_>) -> bool {
    let from = Instant::now();
    relays.all().for_each(Relay::lose_replies);
    sleep(LOST_FOR).await;
    let was_lost = relays.prove_affected(control, "lost");
    control.note(IncidentKind::RepliesLost, &relays.names(), from, Some(Instant::now()));
    relays.all().for_each(Relay::pass);
    was_lost
}
