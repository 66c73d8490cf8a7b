//! One timer that renews every held lock.

use std::sync::Arc;

use futures_util::future::join_all;
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::error::Error;
use crate::hook::{Operation, in_words, observed};
use crate::lease::Lease;
use crate::shared::Shared;

/// Locks in one renewal: Redis does nothing else while the script runs.
const AT_ONCE: usize = 100;

/// Ticks in one grace: a lease that is due after a third of it is renewed before the half.
const TICKS: u32 = 6;

/// Renews the leases that are due, for ever.
pub(crate) async fn renew(shared: Arc<Shared>) {
    let mut ticks = interval(shared.grace() / TICKS);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut renewing = tokio::spawn(async {});
    loop {
        ticks.tick().await;
        let due = shared.waiters().due(Instant::now());
        if renewing.is_finished() && !due.is_empty() {
            renewing = tokio::spawn(renew_all(shared.clone(), due));
        }
    }
}

async fn renew_all(shared: Arc<Shared>, due: Vec<Arc<Lease>>) {
    // In a cluster each lock has a slot of its own, and a node that is gone must not hold up the locks of the others.
    let at_once = if shared.shards.is_some() { 1 } else { AT_ONCE };
    join_all(due.chunks(at_once).map(|leases| renew_in_one_step(&shared, leases))).await;
}

async fn renew_in_one_step(shared: &Shared, leases: &[Arc<Lease>]) {
    // A dead connection must leave time for an attempt over a new one.
    let within = shared.settings.answer_within.min(shared.settings.lease / 3);
    let sent = Instant::now();
    let held = leases.iter().map(|lease| (lease.name.as_str(), lease.owner.as_str()));
    let call = shared.scripts.renew(held, shared.settings.lease);
    let answer = shared.wire.run_within(within, &call);
    let hook = shared.settings.hook.as_deref();
    let words = |answer: &Result<Vec<bool>, Error>| in_words(answer, |renewed| format!("{renewed:?}"));
    // After an error the next tick tries again, until the lease ends.
    let answer = observed(hook, Operation::Renew, &leases[0].name, answer, words).await;
    for (lease, is_extended) in leases.iter().zip(answer.unwrap_or_default()) {
        if is_extended {
            lease.extend(sent, shared.settings.lease);
        } else {
            lease.lose();
        }
    }
}
