//! What the threats have in common under which an instance is killed in the middle of a purchase.

use std::time::Duration;

use anyhow::Result;
use tokio::time::timeout;

use crate::answer::{Answer, Word};
use crate::attack::{Delivery, Scene, Sending};
use crate::deeds::take_over;
use crate::load::Load;

/// How long after an answer the death of an instance may be noticed: after one of the shop's own, and after silence.
const DIES_WITHIN: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];

/// How long the first sale is waited for.
const FIRST_SALE_WITHIN: Duration = Duration::from_secs(1);

/// The purchase that brings death.
const FATAL: usize = 0;

/// Buyers who come for what the dead one may have left locked.
const SUCCESSORS: usize = 4;

/// Which purchases the deed sends: the fatal one first.
pub(crate) fn places(load: &Load) -> Vec<usize> {
    (FATAL..=SUCCESSORS).filter(|place| *place < load.buyers).collect()
}

/// Twice as much of everything: whoever brings death has to win the lock from all others, and something is to be left then.
pub(crate) fn load(two_waves: Load) -> Load {
    Load {
        requests: two_waves.requests * 2,
        stock: two_waves.stock * 2,
        ..two_waves
    }
}

/// Has an instance kill itself at that step. Whether one died.
pub(crate) async fn act(scene: &Scene<'_>, step: &str) -> Result<bool> {
    // Where the first of all purchases took the lock with it, nothing would ever be sold, and a shop that sells nothing
    // proves nothing. Some shops sell nothing before this purchase has come, too.
    let _ = timeout(FIRST_SALE_WITHIN, scene.after_sales(1)).await;
    let deaths = scene.shop.watch().await;
    let has_died = |answer: Answer| {
        let [after_answer, after_silence] = DIES_WITHIN;
        let within = if answer.word == Word::Unknown {
            after_silence
        } else {
            after_answer
        };
        deaths.died(within)
    };
    let sending = Sending::with_fault(&format!("crash@{step}"));
    let has_died = scene.provoke(FATAL, sending, has_died).await?;
    let places = places(&scene.attack.sale.load);
    take_over::by_several(scene, &places[FATAL + 1..], Delivery::Once).await?;
    Ok(has_died)
}
