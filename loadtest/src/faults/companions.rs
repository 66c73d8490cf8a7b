//! Purchases that are under way at every instance when one of them dies or stands still. A process that is gone answers
//! none of those that it had received, by whatever name.

use std::time::Duration;

use anyhow::Result;
use futures_util::future::try_join_all;

use crate::attack::{AttackControl, Delivery, SendOptions};

/// The number of companions: two for each of two instances.
pub(crate) const COMPANIONS: usize = 4;

/// The business time of the purchase that carries the fault, so that it is being carried out when the companions come.
pub(crate) const CARRIER_WORK: Duration = Duration::from_millis(250);

/// The business time of a companion, so that it is at work when the fault strikes.
const WORK: Duration = Duration::from_millis(500);

/// The head start of the purchase that carries the fault: it has its lock, if it needs one, when the companions come.
pub(crate) const HEAD_START: Duration = Duration::from_millis(150);

/// Sends the companions at these places, to each instance in turn, and waits for their responses.
pub(crate) async fn send(control: &AttackControl<'_>, places: &[usize]) -> Result<()> {
    let sent = places.iter().enumerate().map(|(instance, place)| {
        let options = SendOptions {
            delivery: Delivery::At(instance),
            work: Some(WORK),
            fault: None,
        };
        control.send(*place, options)
    });
    try_join_all(sent).await?;
    Ok(())
}
