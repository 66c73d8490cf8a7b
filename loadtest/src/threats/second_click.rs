//! Buyers click twice: every fourth purchase of the first wave goes to two instances at the same moment, with one
//! idempotency key. It must become one order. The round counts only if two instances answered the same purchase and
//! their work overlapped.

use anyhow::Result;
use futures_util::future::try_join_all;

use super::Threat;
use crate::attack::{AttackControl, Delivery, Injection, ResponsePair, SendOptions};
use crate::sale::Load;
use crate::shop::response::Response;

/// Of this many buyers in the first wave one clicks twice.
const ONE_OF: usize = 4;

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
    (0..load.buyers).step_by(ONE_OF).collect()
}

/// Returns whether two instances had the same purchase at the same time.
async fn inject(control: &AttackControl<'_>) -> Result<bool> {
    let twice = SendOptions {
        delivery: Delivery::AtTwoInstances,
        ..SendOptions::default()
    };
    let places = places(&control.attack.sale.load);
    control.release_buyers();
    let pairs = try_join_all(places.into_iter().map(|place| control.send(place, twice.clone()))).await?;
    let overlapping = pairs.iter().flatten().filter(|pair| overlaps_elsewhere(pair)).count();
    if overlapping > 0 {
        control.prove(
            "app",
            format!("two instances worked at once on each of {overlapping} purchases"),
        );
    }
    Ok(overlapping > 0)
}

fn overlaps_elsewhere(ResponsePair { response, copy }: &ResponsePair) -> bool {
    let at_once = |copy: &Response| response.sent < copy.ended && copy.sent < response.ended;
    let elsewhere =
        |copy: &Response| response.instance.is_some() && copy.instance.is_some() && response.instance != copy.instance;
    copy.as_ref().is_some_and(|copy| at_once(copy) && elsewhere(copy))
}
