//! What the threats have in common under which an instance is killed in the middle of a purchase.

use std::ops::RangeInclusive;
use std::time::Duration;

use anyhow::Result;
use tokio::time::{sleep, timeout};

use crate::attack::{AttackControl, Delivery, SendOptions};
use crate::faults::take_over;
use crate::sale::Load;
use crate::shop::instances::Death;
use crate::shop::response::{Response, ResponseKind};
use crate::trace::IncidentKind;

/// How long after its purchase has broken off the death of an instance may be noticed.
const DIES_WITHIN: Duration = Duration::from_secs(2);

/// How long the first purchase is waited for.
const FIRST_WITHIN: Duration = Duration::from_secs(1);

/// How much earlier than all others the fatal purchase is sent, so that it is carried out when they come.
const HEAD_START: Duration = Duration::from_millis(2);

/// The purchase that brings death.
const FATAL: usize = 0;

/// One that comes before it.
const FIRST: usize = 1;

/// Those who come for what the dead one may have left locked.
const SUCCESSORS: RangeInclusive<usize> = 2..=5;

/// Which purchases the deed sends, of as many as there are.
pub(crate) fn places(load: &Load) -> Vec<usize> {
    (FATAL..=*SUCCESSORS.end())
        .filter(|place| *place < load.buyers)
        .collect()
}

/// Has an instance kill itself at that step. Whether one died.
pub(crate) async fn act(control: &AttackControl<'_>, step: &str) -> Result<bool> {
    let places = places(&control.attack.sale.load);
    // Where the first of all purchases took the lock with it, nothing would ever be sold, and a shop that sells nothing
    // proves nothing.
    if places.contains(&FIRST) {
        let _ = timeout(FIRST_WITHIN, control.send(FIRST, SendOptions::default())).await;
    }
    let deaths = control.shop.watch().await;
    // Whoever could answer was not killed in the middle of it, and whoever had died before was killed by something else.
    let has_died = async |response: Response| {
        if response.kind != ResponseKind::Unknown {
            return false;
        }
        let death = deaths.died(response.sent, DIES_WITHIN).await;
        if let Some(Death { instance, at }) = &death {
            control.note(
                IncidentKind::Killed,
                instance.as_deref().unwrap_or("an instance"),
                *at,
                None,
            );
        }
        death.is_some()
    };
    let options = SendOptions::with_fault(&format!("crash@{step}"));
    let others = async {
        sleep(HEAD_START).await;
        control.begin();
    };
    let (has_died, ()) = tokio::join!(control.provoke(FATAL, options, has_died), others);
    let successors: Vec<_> = SUCCESSORS.filter(|place| places.contains(place)).collect();
    take_over::by_several(control, &successors, Delivery::Once).await?;
    has_died
}
