//! A lock is lost while a purchase holds it, in the phase of the round. The trace says when that phase has come, and
//! afterwards whether the loss met it: a round in which it did not shows nothing.
//!
//! The purchase works, or is delayed, for a part of its lease, so that the write comes before the lease ends by itself
//! and on the right side of the next renewal. The shop renews a lease every third of it.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tokio::time::{sleep, timeout};

use super::hold;
use crate::attack::{AttackControl, SendOptions};
use crate::phase::Phase;
use crate::trace::{Loss, Role, SaleTrace, Trace, TracedPurchase, now_ns};

/// The business time of a purchase without a lock, and the time until the fault meets it.
const WORK: Duration = Duration::from_millis(600);
const AT_WORK_AFTER: Duration = Duration::from_millis(150);

/// The length of a lease where the shop does not say it: the lease of the shop that is started here.
const LEASE: Duration = Duration::from_secs(1);

/// The time by which a write comes before a renewal.
const BEFORE_RENEWAL_BY: Duration = Duration::from_millis(60);

/// The pause between two looks at the trace.
const LOOK_EVERY: Duration = Duration::from_millis(10);

/// The time without a step after which a purchase is at the step where it is delayed.
const STILL_FOR: Duration = Duration::from_millis(50);

/// The longest wait for the phase. After it the fault comes anyway, and the trace shows what it met.
const SEEN_WITHIN: Duration = Duration::from_millis(600);

/// Sends a purchase, lets `fault` take its lock away in the phase of the round, and lets others buy. Returns the result
/// of the fault. A round whose fault came at another moment is marked.
///
/// # Errors
/// Those of the fault; also when the purchase could not be sent.
pub(crate) async fn lose_lock<T>(control: &AttackControl<'_>, fault: impl Future<Output = Result<T>>) -> Result<T> {
    let phase = control.attack.phase;
    let (sent_ns, mut struck) = (now_ns(), None);
    let action = async {
        match phase {
            Some(phase) => until(control, phase, sent_ns).await,
            None => sleep(AT_WORK_AFTER).await,
        }
        let from = Instant::now();
        let result = fault.await;
        struck = Some((result, from, Instant::now()));
    };
    let holder = hold::with_competitors(control, options(control, phase), action).await?;
    let (result, from, until) = struck.context("the purchase ended before anything was done to its lock")?;
    let result = result?;
    if let Some(phase) = phase {
        let missed = match holder {
            Some(holder) if holder.ended <= from => Some("the purchase had its answer before the fault struck"),
            Some(holder) => match trace(control).await.look().await {
                Some(trace) => Loss::between(from, until).missed(phase, &trace, &holder.buyer),
                None => Some("there is no trace of the purchase that was to hold the lock"),
            },
            None => Some("no purchase was left that could hold the lock"),
        };
        if let Some(why) = missed {
            control.mistime(why);
        }
    }
    Ok(result)
}

/// Returns how the holder buys, so that the phase comes.
fn options(control: &AttackControl<'_>, phase: Option<Phase>) -> SendOptions {
    let lease = control
        .attack
        .sale
        .strategy
        .lease_ms
        .map_or(LEASE, Duration::from_millis);
    let work = match phase {
        None => WORK,
        Some(Phase::AtWork) => lease * 3 / 5,
        // Two renewals come before the write. The first one may meet a server that is not back yet.
        Some(Phase::BeforeRenewal) => lease * 4 / 5,
        Some(Phase::AfterRenewal) => (lease * 2 / 3).saturating_sub(BEFORE_RENEWAL_BY),
        Some(Phase::BeforeWrite) => {
            return SendOptions::with_fault(&format!("delay={}@write", (lease * 7 / 10).as_millis()));
        }
    };
    SendOptions {
        work: Some(work),
        ..SendOptions::default()
    }
}

/// Waits until the trace shows the phase of the purchase that was sent after `sent_ns`.
async fn until(control: &AttackControl<'_>, phase: Phase, sent_ns: u64) {
    let trace = trace(control).await;
    let seen = async {
        loop {
            sleep(LOOK_EVERY).await;
            let now = trace.look().await;
            if now.is_some_and(|now| has_come(phase, &now, sent_ns)) {
                return;
            }
        }
    };
    // The trace is read once more afterwards.
    let _ = timeout(SEEN_WITHIN, seen).await;
}

/// Whether the last purchase has reached the phase.
fn has_come(phase: Phase, trace: &Trace, sent_ns: u64) -> bool {
    let Some(holder) = trace.purchases.last().filter(|last| last.began_ns() >= sent_ns) else {
        return false;
    };
    let has_read = holder.last(Role::Read).is_some_and(|step| step.end.is_some());
    has_read
        && match phase {
            Phase::AtWork | Phase::BeforeRenewal => true,
            Phase::AfterRenewal => trace.renewals(holder).iter().any(|step| step.end.is_some()),
            Phase::BeforeWrite => is_still(holder),
        }
}

/// Whether the purchase has taken no step for some time.
fn is_still(holder: &TracedPurchase) -> bool {
    let has_ended = holder.steps.last().is_some_and(|step| step.end.is_some());
    has_ended && u128::from(now_ns().saturating_sub(holder.last_ns())) >= STILL_FOR.as_nanos()
}

/// Returns the trace of the item, which the instances write already.
async fn trace(control: &AttackControl<'_>) -> SaleTrace {
    let item = control.attack.sale.sales.first().map_or("", |sale| sale.item.as_str());
    control.shop.begun_trace(item).await
}
