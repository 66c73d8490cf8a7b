//! Every fourth buyer of the first wave hangs up while its purchase is carried out. The shop must leave no purchase
//! half done, and the other buyers go on. The round counts only if a buyer was gone before its response came.

use std::time::Duration;

use anyhow::Result;
use futures_util::future::try_join_all;

use super::Threat;
use crate::attack::{AttackControl, Delivery, Injection, SendOptions};
use crate::sale::Load;

/// The time until a buyer hangs up. The purchase works twice as long, so that it has read and not written by then.
const HANG_UP_AFTER: Duration = Duration::from_millis(30);

/// Of this many buyers in the first wave one hangs up.
const ONE_OF: usize = 4;

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
    (0..load.buyers).step_by(ONE_OF).collect()
}

/// Returns whether a buyer was gone before its response came.
async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let hang_up = SendOptions {
        delivery: Delivery::HangUp(HANG_UP_AFTER),
        ..SendOptions::default()
    };
    let places = places(&control.attack.sale.load);
    control.release_buyers();
    let pairs = try_join_all(places.into_iter().map(|place| control.send(place, hang_up.clone()))).await?;
    let gone = pairs.iter().flatten().filter(|pair| pair.response.hung_up).count();
    if gone > 0 {
        control.prove("app", format!("{gone} buyers had hung up before their responses came"));
    }
    Ok(gone > 0)
}
