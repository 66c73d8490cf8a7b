//! Buyers click twice: several purchases come to two instances at one moment, with one idempotency key. One wish is one order.

use anyhow::Result;
use futures_util::future::try_join_all;

use super::Threat;
use crate::attack::{AttackControl, Delivery, Injection, ResponsePair, SendOptions};
use crate::sale::Load;
use crate::shop::response::Response;

/// Every so many buyers of the first wave clicks twice.
const EVERY: usize = 4;

pub(super) const THREAT: Threat = Threat {
    name: "second-click",
    title: "second click",
    load: |asked, _| asked.two_waves(),
    injection: Some(Injection {
        places,
        ..Injection::new(|control| Box::pin(inject(control)))
    }),
    source: include_str!("second_click.rs"),
    ..Threat::PLAIN
};

fn places(load: &Load) -> Vec<usize> {
    (0..load.buyers).step_by(EVERY).collect()
}

/// It struck where two instances had one purchase at the same moment.
async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let twice = SendOptions {
        delivery: Delivery::AtTwoInstances,
        ..SendOptions::default()
    };
    let places = places(&control.attack.sale.load);
    control.begin();
    let heard = try_join_all(places.into_iter().map(|place| control.send(place, twice.clone()))).await?;
    Ok(heard.into_iter().flatten().any(|heard| met_elsewhere(&heard)))
}

fn met_elsewhere(ResponsePair { response, copy }: &ResponsePair) -> bool {
    let at_once = |copy: &Response| response.sent < copy.ended && copy.sent < response.ended;
    let elsewhere =
        |copy: &Response| response.instance.is_some() && copy.instance.is_some() && response.instance != copy.instance;
    copy.as_ref().is_some_and(|copy| at_once(copy) && elsewhere(copy))
}
