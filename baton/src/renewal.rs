//! One timer for everything that is held.

use std::sync::Arc;

use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::around::{Act, carry, in_words};
use crate::baton::Shared;
use crate::error::Error;
use crate::lease::Lease;

/// Locks that one command renews: Redis does nothing else meanwhile.
const AT_ONCE: usize = 100;

/// Ticks in one grace: a lease that is due after a third of it is renewed before the half.
const TICKS: u32 = 6;

/// Renews what is due.
pub(crate) async fn renew(shared: Arc<Shared>) {
    let mut ticks = interval(shared.grace() / TICKS);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut renewing = tokio::spawn(async {});
    loop {
        ticks.tick().await;
        let due = shared.desk().due(Instant::now());
        if renewing.is_finished() && !due.is_empty() {
            renewing = tokio::spawn(renew_all(shared.clone(), due));
        }
    }
}

async fn renew_all(shared: Arc<Shared>, due: Vec<Arc<Lease>>) {
    // So that there is time for another connection where this one is dead.
    let within = shared.settings.answer_within.min(shared.settings.lease / 3);
    for leases in due.chunks(AT_ONCE) {
        let sent = Instant::now();
        let held = leases.iter().map(|lease| (lease.name.as_str(), lease.owner.as_str()));
        let call = shared.scripts.renew(held, shared.settings.lease);
        let answer = shared.wire.run_within(within, &call);
        let around = shared.settings.around.as_deref();
        let words = |answer: &Result<Vec<bool>, Error>| in_words(answer, |renewed| format!("{renewed:?}"));
        // What cannot be renewed now is tried again at the next tick, until its lease ends.
        let answer = carry(around, Act::Renew, &leases[0].name, answer, words).await;
        for (lease, is_ours) in leases.iter().zip(answer.unwrap_or_default()) {
            if is_ours {
                lease.prolong(sent, shared.settings.lease);
            } else {
                lease.lose();
            }
        }
    }
}
