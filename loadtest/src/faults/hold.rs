//! What the threats have in common under which one purchase takes longer than any lease, while others want to buy.

use std::time::Duration;

use anyhow::Result;
use futures_util::future::try_join_all;
use tokio::sync::SetOnce;
use tokio::time::timeout;

use crate::attack::{AttackControl, Delivery, ResponsePair, SendOptions};
use crate::sale::Load;
use crate::shop::catalogue::Strategy;
use crate::shop::response::{Response, ResponseKind};

/// How long the purchase is held up: three leases of our own shop.
pub(crate) const LASTS: Duration = Duration::from_secs(3);

/// Buyers who come again and again meanwhile: every second one past the proxy, which may have the others wait at an instance
/// that stands still.
const OTHERS: usize = 4;

/// The instance at which the purchase is held up, and the one to which those come who pass the proxy by.
const INSTANCES: [usize; 2] = [0, 1];

/// After which one comes again who was told to wait: some shops give up long before a lease ends.
const AGAIN: Duration = Duration::from_millis(300);

/// Which purchases the deed sends: the one that is held up first.
pub(crate) fn places(load: &Load) -> Vec<usize> {
    (0..load.buyers.min(OTHERS + 1)).collect()
}

/// A wave of buyers for each of those who come again and again, on top of the two that there are.
pub(crate) fn load(asked: Load, _: &Strategy) -> Load {
    let two_waves = asked.two_waves();
    Load {
        requests: two_waves.requests * 2,
        ..two_waves
    }
}

/// Sends one purchase; lets the others loose when it `is_held` up, and has some of them come again until it is answered. Its
/// answer, unless it could not be sent.
///
/// # Errors
/// When the deed has not named the places.
pub(crate) async fn up(
    control: &AttackControl<'_>,
    options: SendOptions,
    is_held: impl Future,
) -> Result<Option<Response>> {
    let is_over = SetOnce::new();
    let [at, elsewhere] = INSTANCES.map(Delivery::At);
    let options = SendOptions {
        delivery: at,
        ..options
    };
    let holder = async {
        let heard = control.send(0, options).await;
        // It is set by nobody else.
        let _ = is_over.set(());
        heard
    };
    let others = async {
        is_held.await;
        control.begin();
        let others = places(&control.attack.sale.load).into_iter().skip(1);
        let ways = [elsewhere, Delivery::Once].into_iter().cycle();
        let others = others
            .zip(ways)
            .map(|(place, way)| recheck(control, place, way, &is_over));
        try_join_all(others).await
    };
    let (heard, others) = tokio::join!(holder, others);
    others?;
    Ok(heard?.map(|heard| heard.response))
}

/// Buys until somebody is told anything but to wait, or the purchase that is held up is answered.
async fn recheck(control: &AttackControl<'_>, place: usize, delivery: Delivery, is_over: &SetOnce<()>) -> Result<()> {
    let options = SendOptions {
        delivery,
        ..SendOptions::default()
    };
    while let Some(ResponsePair { response, .. }) = control.send(place, options.clone()).await? {
        if response.kind != ResponseKind::Busy || timeout(AGAIN, is_over.wait()).await.is_ok() {
            break;
        }
    }
    Ok(())
}
