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
use crate::shop::response::Response;
use crate::trace::{End, Loss, Role, SaleTrace, Trace, TracedPurchase, now_ns};

/// The time from the read to the write: below a lease of the shop that is started here, so that no lock ends by itself.
pub(crate) const UNTIL_WRITE: Duration = Duration::from_millis(700);

/// The time until the fault meets a purchase without a phase.
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

/// The renewals of a lease: so many in the time of one lease.
const RENEWALS: u32 = 3;

/// Sends a purchase, lets `fault` take its lock away in the phase of the round, and lets others buy. The purchase writes
/// after `work`, unless the phase lies between two renewals. Returns the result of the fault. A round whose fault came at
/// another moment is marked.
///
/// # Errors
/// Those of the fault; also when the purchase could not be sent.
pub(crate) async fn lose_lock<T>(
    control: &AttackControl<'_>,
    work: Duration,
    fault: impl Future<Output = Result<T>>,
) -> Result<T> {
    let moment = control.attack.phase.map(|phase| Moment {
        phase,
        work,
        lease: control
            .attack
            .sale
            .strategy
            .lease_ms
            .map_or(LEASE, Duration::from_millis),
        sent_ns: now_ns(),
    });
    let options = moment.as_ref().map_or_else(|| working(work), Moment::options);
    let mut struck = None;
    let action = async {
        match &moment {
            Some(moment) => moment.seen(control).await,
            None => sleep(AT_WORK_AFTER).await,
        }
        let from = Instant::now();
        let result = fault.await;
        struck = Some((result, from, Instant::now()));
    };
    let holder = hold::with_competitors(control, options, action).await?;
    let (result, from, until) = struck.context("the purchase ended before anything was done to its lock")?;
    let result = result?;
    let missed = match moment {
        Some(moment) => moment.missed(control, holder, from, until).await,
        None => had_its_answer(holder.as_ref(), from),
    };
    if let Some(why) = missed {
        control.mistime(why);
    }
    Ok(result)
}

/// Does the same for a fault that may come to a purchase without a phase. Returns `None` if that purchase was no longer at
/// work when the fault had struck.
pub(crate) async fn strike<T>(
    control: &AttackControl<'_>,
    work: Duration,
    fault: impl Future<Output = Result<T>>,
) -> Result<Option<T>> {
    match control.attack.phase {
        Some(_) => lose_lock(control, work, fault).await.map(Some),
        None => hold::strike_at_work(control, work, fault).await,
    }
}

/// Returns why the fault met no purchase at work, if it met none.
fn had_its_answer(holder: Option<&Response>, from: Instant) -> Option<&'static str> {
    let has_ended = holder.is_some_and(|holder| holder.ended <= from);
    has_ended.then_some("the purchase had its answer before the fault struck")
}

fn working(work: Duration) -> SendOptions {
    SendOptions {
        work: Some(work),
        ..SendOptions::default()
    }
}

/// The moment at which the lock is to be lost.
struct Moment {
    phase: Phase,
    /// The time from its read to its write in a phase that no renewal bounds.
    work: Duration,
    lease: Duration,
    /// When its holder was sent, by the clock of the trace.
    sent_ns: u64,
}

impl Moment {
    /// Returns the time from the holder's read to its write.
    fn until_write(&self) -> Duration {
        match self.phase {
            Phase::AtWork | Phase::BeforeWrite => self.work,
            // Two renewals come before the write. The first one may meet a server that is not back yet.
            Phase::BeforeRenewal => self.lease * 4 / 5,
            Phase::AfterRenewal => (self.lease * 2 / RENEWALS).saturating_sub(BEFORE_RENEWAL_BY),
        }
    }

    /// Returns how the holder buys, so that the moment comes.
    fn options(&self) -> SendOptions {
        match self.phase {
            Phase::BeforeWrite => SendOptions::with_fault(&format!("delay={}@write", self.until_write().as_millis())),
            Phase::AtWork | Phase::BeforeRenewal | Phase::AfterRenewal => working(self.until_write()),
        }
    }

    /// Waits until the trace shows the moment.
    async fn seen(&self, control: &AttackControl<'_>) {
        let trace = trace(control).await;
        let seen = async {
            loop {
                sleep(LOOK_EVERY).await;
                let now = trace.look().await;
                if now.is_some_and(|now| self.has_come(&now)) {
                    return;
                }
            }
        };
        // The trace is read once more afterwards.
        let _ = timeout(SEEN_WITHIN, seen).await;
    }

    /// Returns the holder: the purchase since it was sent whose buyer is new. The crowd repeats some purchases at any time.
    fn holder<'a>(&self, trace: &'a Trace) -> Option<&'a TracedPurchase> {
        let all = trace.purchases.iter();
        let (before, since): (Vec<_>, Vec<_>) = all.partition(|purchase| purchase.began_ns() < self.sent_ns);
        let is_new = |buyer: &str| before.iter().all(|earlier| earlier.buyer != buyer);
        since.into_iter().find(|purchase| is_new(&purchase.buyer))
    }

    /// Whether the holder has come to this moment.
    fn has_come(&self, trace: &Trace) -> bool {
        let holder = self.holder(trace);
        let read = holder.and_then(|holder| Some((holder, holder.last(Role::Read)?.end.as_ref()?)));
        let Some((holder, read)) = read else {
            return false;
        };
        match self.phase {
            Phase::AtWork | Phase::BeforeRenewal => true,
            Phase::AfterRenewal => {
                let write_ns = read.at_ns + ns(self.until_write());
                let is_last = |renewal: &End| renewal.at_ns + ns(self.lease / RENEWALS) > write_ns;
                let renewals = trace.renewals(holder);
                renewals.iter().any(|step| step.end.as_ref().is_some_and(is_last))
            }
            Phase::BeforeWrite => is_still(holder),
        }
    }

    /// Returns why the fault met the holder at another moment, if it did.
    async fn missed(
        &self,
        control: &AttackControl<'_>,
        holder: Option<Response>,
        from: Instant,
        until: Instant,
    ) -> Option<&'static str> {
        let Some(holder) = holder else {
            return Some("no purchase was left that could hold the lock");
        };
        if let Some(why) = had_its_answer(Some(&holder), from) {
            return Some(why);
        }
        match trace(control).await.look().await {
            Some(trace) => Loss::between(from, until).missed(self.phase, &trace, &holder.buyer),
            None => Some("there is no trace of the purchase that was to hold the lock"),
        }
    }
}

/// Whether the purchase has taken no step for some time.
fn is_still(holder: &TracedPurchase) -> bool {
    let has_ended = holder.steps.last().is_some_and(|step| step.end.is_some());
    has_ended && now_ns().saturating_sub(holder.last_ns()) >= ns(STILL_FOR)
}

/// Returns the trace of the item, which the instances write already.
async fn trace(control: &AttackControl<'_>) -> SaleTrace {
    let item = control.attack.sale.sales.first().map_or("", |sale| sale.item.as_str());
    control.shop.begun_trace(item).await
}

fn ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX / 2)
}
