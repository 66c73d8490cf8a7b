//! The loss of a lock by a fault: whether its holder still had it, and in which phase of its lease the loss came. The
//! trace shows both; the length of a delay would not.

use std::time::Instant;

use super::event::Role;
use super::hold_span::HoldSpan;
use super::place_incidents::Clock;
use super::purchase::{Step, Trace, TracedPurchase};
use crate::phase::Phase;

/// The time in which a fault took a lock away, by the clock of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The begin of the fault, in nanoseconds.
    pub from_ns: u64,
    /// The time at which other purchases could ask for the lock again, in nanoseconds.
    pub until_ns: u64,
}

impl Loss {
    /// Creates the loss by a fault between these times.
    pub fn between(from: Instant, until: Instant) -> Self {
        let clock = Clock::now();
        Self {
            from_ns: clock.ns(from),
            until_ns: clock.ns(until),
        }
    }

    /// Returns why the round shows nothing about `phase`, where the loss met the purchase of `buyer` at another moment.
    pub fn missed(&self, phase: Phase, trace: &Trace, buyer: &str) -> Option<&'static str> {
        let mut purchases = trace.purchases.iter();
        let Some(holder) = purchases.rfind(|purchase| purchase.buyer == buyer) else {
            return Some("the trace does not show the purchase that was to hold the lock");
        };
        let is_held = |span: &HoldSpan| (span.from_ns..=span.until_ns).contains(&self.from_ns);
        if !HoldSpan::all(holder).iter().any(is_held) {
            return Some("the purchase did not hold its lock when the fault struck");
        }
        let Some(next) = holder.steps.iter().find(|step| step.began_ns > self.from_ns) else {
            return Some("the purchase that held the lock never went on after the fault");
        };
        if next.began_ns < self.until_ns {
            return Some("the purchase that held the lock went on before the fault was over");
        }
        if !self.is_asked_for_before(next, holder, trace) {
            return Some("nobody asked for the lock between the fault and the write");
        }
        self.missed_phase(phase, next, &trace.renewals(holder))
    }

    /// Checks the moment by the renewals of the lock, and by the step that its holder took next.
    fn missed_phase(&self, phase: Phase, next: &Step, renewals: &[&Step]) -> Option<&'static str> {
        let any = |is: &dyn Fn(&Step) -> bool| renewals.iter().any(|step| is(step));
        let has_preceded = any(&|step| step.last_ns() <= self.from_ns);
        let is_between = any(&|step| (self.from_ns..next.began_ns).contains(&step.began_ns));
        // A renewal while the fault lasted may have found nothing that could answer.
        let has_followed = any(&|step| step.began_ns >= self.until_ns && step.last_ns() <= next.began_ns);
        match phase {
            Phase::BeforeRenewal if !has_followed => Some("no renewal followed between the fault and the write"),
            Phase::AfterRenewal if !has_preceded => Some("no renewal came before the fault"),
            Phase::AfterRenewal if is_between => Some("a renewal came between the fault and the write"),
            Phase::BeforeWrite if next.role != Some(Role::Write) => {
                Some("the purchase took another step between the fault and the write")
            }
            Phase::AtWork | Phase::BeforeRenewal | Phase::AfterRenewal | Phase::BeforeWrite => None,
        }
    }

    /// Whether another purchase asked for the lock after the fault and had its answer before the holder's next step, or
    /// waited until the holder was done.
    fn is_asked_for_before(&self, next: &Step, holder: &TracedPurchase, trace: &Trace) -> bool {
        let others = trace.purchases.iter().filter(|other| !std::ptr::eq(*other, holder));
        let mut asks = others
            .flat_map(|other| &other.steps)
            .filter(|step| step.role == Some(Role::Lock) && step.last_ns() >= self.until_ns);
        asks.any(|step| {
            step.last_ns() <= next.began_ns || step.began_ns < next.began_ns && step.last_ns() >= holder.last_ns()
        })
    }
}

impl Trace {
    /// Returns the renewals of a purchase's lock: its own, and those that a task makes for all locks of its instance.
    pub(crate) fn renewals<'a>(&'a self, holder: &'a TracedPurchase) -> Vec<&'a Step> {
        let shared = self.shared_renewals.iter();
        let shared = shared.filter(|(instance, _)| *instance == holder.instance);
        let shared = shared
            .map(|(_, step)| step)
            .filter(|step| step.began_ns >= holder.began_ns());
        holder.renewals.iter().chain(shared).collect()
    }
}
