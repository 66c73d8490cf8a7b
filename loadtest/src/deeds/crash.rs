//! What the threats have in common under which an instance is killed in the middle of a purchase.

use std::time::Duration;

use anyhow::Result;

use crate::answer::{Answer, Word};
use crate::attack::{Scene, Sending};
use crate::load::Load;

/// How long after an answer the death of an instance may be noticed: after one of the shop's own, and after silence.
const DIES_WITHIN: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];

/// Which purchase brings it to.
pub(crate) fn place(load: &Load) -> usize {
    load.buyers / 2
}

/// Has an instance kill itself at that step. Whether one died.
pub(crate) async fn act(scene: &Scene<'_>, step: &str) -> Result<bool> {
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
    // Where the first of all purchases took the lock with it, nothing would ever be sold, and a shop that sells nothing
    // proves nothing.
    scene.after_sales(1).await;
    let sending = Sending::with_fault(&format!("crash@{step}"));
    scene.provoke(place(&scene.attack.sale.load), sending, has_died).await
}
