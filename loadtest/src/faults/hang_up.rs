//! What the threats have in common under which MariaDB ends all its connections: just before a purchase takes each of the steps
//! that there are, and right after it has carried that step out, before anybody hears of it.

use std::time::{Duration, Instant};

use anyhow::Result;
use async_trait::async_trait;
use stack::{Relay, ServerKind};
use tokio::time::sleep;

use crate::attack::AttackControl;
use crate::deployment::requirement::Requirement;
use crate::faults::every_step::BELOW_A_LEASE;
use crate::faults::{every_step, relays, restart};
use crate::sale::Load;
use crate::shop::catalogue::Strategy;
use crate::trace::IncidentKind;

/// The items of each moment: one is taken over when all are answered; at one the step was carried out; at one others buy
/// before the purchase goes on.
const BEFORE: usize = 0;
const AFTER: usize = 1;
const DISPUTED: usize = 2;

/// How long those are held up whose step is carried out before the connections end: until its answer would not arrive.
const ON_ITS_WAY: Duration = every_step::HELD_UP_AFTER.saturating_add(Duration::from_millis(20));

/// How long it may take until the first answer does not arrive: they may need new connections before.
const UNHEARD_WITHIN: Duration = Duration::from_secs(2);

/// How much longer nothing arrives of what is answered before the connections end.
const CARRIED_OUT_WITHIN: Duration = Duration::from_millis(150);

/// How MariaDB ends its connections.
#[async_trait]
pub(crate) trait HangUp: Send {
    /// Ends those that there are, and comes back when others can be made. Whether there was any.
    async fn hang_up(&mut self, control: &AttackControl<'_>) -> Result<bool>;
}

/// What it takes to end the connections at that moment.
pub(crate) fn needs() -> Vec<Requirement> {
    let kind = ServerKind::MariaDb;
    vec![Requirement::Service(kind), Requirement::Relay(kind)]
}

/// Three items for each moment.
pub(crate) fn load(asked: Load, strategy: &Strategy) -> Load {
    every_step::load(asked, strategy, 3)
}

/// Ends all connections three times: before purchases take their steps, after that, and before again while others
/// buy. Whether it came to pass each time.
///
/// # Errors
/// When the deed has not named the places, and those of the server that hangs up.
pub(crate) async fn at_every_step(control: &AttackControl<'_>, server: &mut dyn HangUp) -> Result<bool> {
    let relays = relays::before(control, vec![ServerKind::MariaDb])?;

    sleep(restart::UNUSED_FOR).await;
    let sent_at = Instant::now();
    let before = every_step::meets(control, BEFORE, BELOW_A_LEASE, hang_up(server, control)).await?;
    let lagged = sent_at.elapsed().saturating_sub(BELOW_A_LEASE);
    every_step::taken_over(control, BEFORE).await?;

    sleep(restart::UNUSED_FOR).await;
    let unheard = async {
        let from = Instant::now();
        relays.all().for_each(Relay::lose_replies);
        let was_unheard = relays.affected_within(UNHEARD_WITHIN).await;
        sleep(CARRIED_OUT_WITHIN).await;
        control.note(IncidentKind::RepliesLost, &relays.names(), from, Some(Instant::now()));
        let has_ended = hang_up(server, control).await?;
        relays.all().for_each(Relay::pass);
        Ok(has_ended && was_unheard)
    };
    let after = every_step::meets(control, AFTER, ON_ITS_WAY, unheard).await?;
    every_step::taken_over(control, AFTER).await?;

    sleep(restart::UNUSED_FOR).await;
    let held_up = every_step::for_others(&control.attack.sale.strategy, lagged);
    let disputed = async {
        let has_ended = hang_up(server, control).await?;
        every_step::others(control, DISPUTED, held_up).await?;
        Ok(has_ended)
    };
    let disputed = every_step::meets(control, DISPUTED, held_up, disputed).await?;
    Ok(before && after && disputed)
}

/// Ends all connections once, and notes it.
async fn hang_up(server: &mut dyn HangUp, control: &AttackControl<'_>) -> Result<bool> {
    let from = Instant::now();
    let has_ended = server.hang_up(control).await?;
    control.note(IncidentKind::HungUp, "MariaDB", from, Some(Instant::now()));
    Ok(has_ended)
}
