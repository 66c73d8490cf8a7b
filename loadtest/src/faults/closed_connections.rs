//! An SQL database closes all its connections: just before a purchase takes each of its steps, and right after the step was
//! carried out, before the instance gets the reply.

use std::time::{Duration, Instant};

use anyhow::Result;
use async_trait::async_trait;
use stack::{Relay, ServiceKind};
use tokio::time::sleep;

use crate::attack::AttackControl;
use crate::deployment::requirement::Requirement;
use crate::faults::every_step::{Batch, SHORTER_THAN_A_LEASE};
use crate::faults::{every_step, relays, restart, sql_database};
use crate::sale::Load;
use crate::shop::catalogue::Strategy;
use crate::trace::IncidentKind;

/// Three items for each moment and each SQL database of the strategy. On the first one the connections close before the step,
/// on the second one after it; others buy after the responses. On the third one others buy before the delayed purchase
/// goes on.
const CLOSED_BEFORE: usize = 0;
const CLOSED_AFTER: usize = 1;
const BOUGHT_MEANWHILE: usize = 2;
const ITEMS: usize = 3;

/// The delay of purchases whose step is carried out before the connections close: the replies are being lost when it
/// ends.
const UNTIL_REPLIES_ARE_LOST: Duration = every_step::ALL_DELAYED_AFTER.saturating_add(Duration::from_millis(20));

/// The longest wait for the first lost reply: an instance may need new connections first.
const FIRST_LOSS_WITHIN: Duration = Duration::from_secs(2);

/// The time for which replies are lost after the first one, before the connections close.
const MORE_LOSSES_FOR: Duration = Duration::from_millis(150);

/// A way to close the connections of one database.
#[async_trait]
pub(crate) trait CloseConnections: Send {
    /// The database.
    fn server(&self) -> ServiceKind;

    /// Closes all connections, proves it, and returns when new ones can be made. Returns whether there was any.
    async fn close_all(&mut self, control: &AttackControl<'_>) -> Result<bool>;
}

/// Returns what has to be started here to close the connections at these moments.
pub(crate) fn requirements(strategy: &Strategy) -> Vec<Requirement> {
    let each = sql_database::all(strategy).into_iter();
    each.flat_map(|kind| [Requirement::Service(kind), Requirement::Relay(kind)])
        .collect()
}

pub(crate) fn load(asked: Load, strategy: &Strategy) -> Load {
    every_step::load(asked, strategy, ITEMS * sql_database::all(strategy).len())
}

/// Closes all connections of one database after the other, three times for each batch of moments: before the steps, after
/// the steps, and before the steps again while others buy. `servers` stand in the order of [`sql_database::all`]. Returns
/// whether it happened each time.
pub(crate) async fn at_every_step(
    control: &AttackControl<'_>,
    servers: &mut [Box<dyn CloseConnections>],
) -> Result<bool> {
    let mut has_struck = !servers.is_empty();
    for (server, nth) in servers.iter_mut().zip((0..).step_by(ITEMS)) {
        for batch in every_step::batches(&control.attack.sale.strategy) {
            has_struck &= at_batch(control, &mut **server, batch, nth).await?;
        }
    }
    Ok(has_struck)
}

/// Closes all connections three times, while purchases of three items of each moment are delayed, from the `nth` on.
async fn at_batch(
    control: &AttackControl<'_>,
    server: &mut dyn CloseConnections,
    batch: Batch,
    nth: usize,
) -> Result<bool> {
    let relays = relays::of_servers(control, vec![server.server()])?;

    sleep(restart::IDLE_FOR).await;
    let sent_at = Instant::now();
    let items = batch.nth(nth + CLOSED_BEFORE);
    let before = every_step::disturb_delayed(control, items, SHORTER_THAN_A_LEASE, close_all(server, control)).await?;
    let lagged = sent_at.elapsed().saturating_sub(SHORTER_THAN_A_LEASE);
    every_step::send_successors(control, items).await?;

    sleep(restart::IDLE_FOR).await;
    let items = batch.nth(nth + CLOSED_AFTER);
    let lose_replies = async {
        let from = Instant::now();
        relays.all().for_each(Relay::lose_replies);
        let was_lost = relays.affected_within(FIRST_LOSS_WITHIN).await;
        sleep(MORE_LOSSES_FOR).await;
        control.note(IncidentKind::RepliesLost, &relays.names(), from, Some(Instant::now()));
        let has_closed = close_all(server, control).await?;
        relays.prove_affected(control, "lost");
        relays.all().for_each(Relay::pass);
        Ok(has_closed && was_lost)
    };
    let after = every_step::disturb_delayed(control, items, UNTIL_REPLIES_ARE_LOST, lose_replies).await?;
    every_step::send_successors(control, items).await?;

    sleep(restart::IDLE_FOR).await;
    let items = batch.nth(nth + BOUGHT_MEANWHILE);
    let delay = every_step::delay_for_others(&control.attack.sale.strategy, lagged);
    let meanwhile = async {
        let has_closed = close_all(server, control).await?;
        every_step::send_others(control, items, delay).await?;
        Ok(has_closed)
    };
    let meanwhile = every_step::disturb_delayed(control, items, delay, meanwhile).await?;
    Ok(before && after && meanwhile)
}

/// Closes all connections once, and notes it.
async fn close_all(server: &mut dyn CloseConnections, control: &AttackControl<'_>) -> Result<bool> {
    let from = Instant::now();
    let has_closed = server.close_all(control).await?;
    let subject = server.server().to_string();
    control.note(IncidentKind::HungUp, &subject, from, Some(Instant::now()));
    Ok(has_closed)
}
