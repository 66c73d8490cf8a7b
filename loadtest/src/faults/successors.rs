//! Several buyers compete for a lock that a fault may have left behind. Each is delayed on the way, one longer than the
//! other. If a strategy lets its buyers decide that the lock is abandoned, all of them have decided before the first
//! one goes on.

use std::time::Duration;

use anyhow::Result;
use futures_util::future::try_join_all;

use crate::attack::{AttackControl, Delivery, SendOptions};

/// The difference between the delays of two buyers at the weakest step of the strategy. All delays together are shorter
/// than a lease.
const STAGGER: Duration = Duration::from_millis(100);

/// The business time of each purchase: one is at work when the next goes on.
const WORK: Duration = Duration::from_millis(200);

/// Sends these purchases and waits for the responses. Only a shop that lists its steps is asked for a delay at one.
pub(crate) async fn send_staggered(control: &AttackControl<'_>, places: &[usize], delivery: Delivery) -> Result<()> {
    let strategy = &control.attack.sale.strategy;
    let knows_steps = !strategy.steps.is_empty();
    let sent = (1..).zip(places).map(|(nth, place)| {
        let ms = (nth * STAGGER).as_millis();
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
