//! What the threats have in common that may leave a lock behind: several buyers come for what it locks, and each is held up on the
//! way, one longer than the other. Where they have to decide that the lock is over, all have decided it before the first of them acts.

use std::time::Duration;

use anyhow::Result;
use futures_util::future::try_join_all;

use crate::attack::{AttackControl, Delivery, SendOptions};

/// How much longer each of them is held up at the weakest step of its strategy than the one before: all together below a lease.
const APART: Duration = Duration::from_millis(100);

/// How long each of them works, so that one is at work when the next goes on.
const WORK: Duration = Duration::from_millis(200);

/// Sends these purchases in that way, and waits for their answers. Only a shop that says which steps there are is asked to hold
/// somebody up at one.
///
/// # Errors
/// When the deed has not named the places.
pub(crate) async fn by_several(control: &AttackControl<'_>, places: &[usize], delivery: Delivery) -> Result<()> {
    let strategy = &control.attack.sale.strategy;
    let knows_steps = !strategy.steps.is_empty();
    let sent = (1..).zip(places).map(|(turn, place)| {
        let ms = (turn * APART).as_millis();
        let options = SendOptions {
            delivery,
            work: Some(WORK),
            fault: knows_steps.then(|| format!("delay={ms}@{}", strategy.weak_at).into()),
        };
        control.send(*place, options)
    });
    try_join_all(sent).await?;
    Ok(())
}
