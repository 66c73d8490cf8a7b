//! Buyers hang up while their purchases are carried out: what was begun is ended all the same, and the others go on buying.

use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;
use futures_util::future::try_join_all;

use super::Threat;
use crate::attack::{AttackControl, Delivery, Injection, SendOptions};
use crate::audit::ExplainedUnknowns;
use crate::sale::Load;

/// How long after it was sent: a purchase works for twice as long then, so that it has read and not written.
const AFTER: Duration = Duration::from_millis(30);

/// Every so many buyers of the first wave hangs up.
const EVERY: usize = 4;

pub(super) struct BuyerGone;

impl Threat for BuyerGone {
    fn name(&self) -> &'static str {
        "buyer-gone"
    }

    fn title(&self, _instances: usize) -> String {
        "buyers hang up".to_owned()
    }

    fn injection(&self) -> Option<&dyn Injection> {
        Some(self)
    }
}

#[async_trait]
impl Injection for BuyerGone {
    fn places(&self, load: &Load) -> Vec<usize> {
        (0..load.buyers).step_by(EVERY).collect()
    }

    fn explains(&self) -> ExplainedUnknowns {
        ExplainedUnknowns::Nothing
    }

    /// It struck where somebody was gone before the answer came.
    async fn act(&self, control: &AttackControl<'_>) -> Result<bool> {
        let hang_up = SendOptions {
            delivery: Delivery::HangUp(AFTER),
            ..SendOptions::default()
        };
        let places = self.places(&control.attack.sale.load);
        control.begin();
        let heard = try_join_all(places.into_iter().map(|place| control.send(place, hang_up.clone()))).await?;
        Ok(heard.into_iter().flatten().any(|heard| heard.response.hung_up))
    }
}
