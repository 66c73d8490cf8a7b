//! Buyers hang up while their purchases are carried out: what was begun is ended all the same, and the others go on buying.

use std::time::Duration;

use anyhow::Result;
use futures_util::future::try_join_all;

use super::Threat;
use crate::attack::{AttackControl, Delivery, Injection, SendOptions};
use crate::sale::Load;

/// How long after it was sent: a purchase works for twice as long then, so that it has read and not written.
const AFTER: Duration = Duration::from_millis(30);

/// Every so many buyers of the first wave hangs up.
const EVERY: usize = 4;

pub(super) const THREAT: Threat = Threat {
    name: "buyer-gone",
    title: "buyers hang up",
    load: |asked, _| asked.two_waves(),
    injection: Some(Injection {
        places,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("buyer_gone.rs"),
    ..Threat::PLAIN
};

fn places(load: &Load) -> Vec<usize> {
    (0..load.buyers).step_by(EVERY).collect()
}

/// It struck where somebody was gone before the answer came.
async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let hang_up = SendOptions {
        delivery: Delivery::HangUp(AFTER),
        ..SendOptions::default()
    };
    let places = places(&control.attack.sale.load);
    control.begin();
    let heard = try_join_all(places.into_iter().map(|place| control.send(place, hang_up.clone()))).await?;
    Ok(heard.into_iter().flatten().any(|heard| heard.response.hung_up))
}
