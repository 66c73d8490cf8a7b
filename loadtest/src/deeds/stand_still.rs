//! What the threats have in common under which an instance stands still in the middle of a purchase.

use std::time::Duration;

use anyhow::Result;

use crate::attack::{Scene, Sending};
use crate::load::Load;

/// For how long: three leases of our own shop.
const LASTS: Duration = Duration::from_secs(3);

/// A question that came a little later was answered a little sooner.
const SEEN_FOR: Duration = Duration::from_millis(2_500);

/// How long after the answer to the purchase that of the instance may come.
const SEEN_WITHIN: Duration = Duration::from_secs(1);

/// How an instance comes to stand still.
pub(crate) enum Still {
    /// By SIGSTOP.
    Pause,
    /// Its executor is blocked.
    Block,
}

/// Which purchase brings it to.
pub(crate) fn place(load: &Load) -> usize {
    load.buyers / 2
}

/// Has an instance stand still. Whether it did: it answered nobody for so long, and then the same process did.
pub(crate) async fn act(scene: &Scene<'_>, how: Still) -> Result<bool> {
    let sale = &scene.attack.sale;
    let what = match how {
        Still::Pause => "pause",
        Still::Block => "block",
    };
    let fault = format!("{what}={}@{}", LASTS.as_millis(), sale.strategy.pause_at);
    let stalls = scene.shop.watch_stalls().await;
    let has_stalled = |_| stalls.stalled(SEEN_FOR, SEEN_WITHIN);
    let sending = Sending::with_fault(&fault);
    scene.provoke(place(&sale.load), sending, has_stalled).await
}
