//! The phase of a lease in which a fault takes a lock away. A fault at one moment proves that moment only: a lock that
//! learns of its loss at its next renewal survives every loss that comes before one.

use std::fmt;

use serde::{Deserialize, Serialize};
use stack::ServiceKind;

use crate::shop::catalogue::Strategy;

/// The step by which a lock renews its lease.
const RENEW: &str = "renew";

/// The moment of a purchase at which the fault comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// In its business time. Its lock is not renewed.
    AtWork,
    /// In its business time. A renewal follows before the write.
    BeforeRenewal,
    /// In its business time, just after a renewal. The write comes before the next renewal.
    AfterRenewal,
    /// After every check of its own, when its write is about to be sent.
    BeforeWrite,
}

impl Phase {
    /// Every phase, in the order of a purchase.
    pub const ALL: [Self; 4] = [Self::AtWork, Self::BeforeRenewal, Self::AfterRenewal, Self::BeforeWrite];

    /// Returns the phases in which a strategy may lose a lock that all instances see. Returns nothing for a strategy
    /// without such a lock, or where the shop lists no steps: then no purchase can be delayed at one.
    pub fn of_lock(strategy: &Strategy) -> Vec<Self> {
        let is_lock = ["lease-lock", "session-lock", "lock-without-lease"].contains(&strategy.family());
        // The moments between two renewals follow from the length of the lease.
        let is_renewed = strategy.lease_ms.is_some() && strategy.steps.iter().any(|step| step == RENEW);
        match (is_lock && !strategy.steps.is_empty(), is_renewed) {
            (false, _) => Vec::new(),
            (true, false) => vec![Self::AtWork, Self::BeforeWrite],
            (true, true) => vec![Self::BeforeRenewal, Self::AfterRenewal, Self::BeforeWrite],
        }
    }

    /// Returns the phases for a silence between a lock and its holder, in which no renewal arrives.
    pub fn of_silent_lock(strategy: &Strategy) -> Vec<Self> {
        match Self::of_lock(strategy).as_slice() {
            [] => Vec::new(),
            _ => vec![Self::AtWork, Self::BeforeWrite],
        }
    }

    /// Returns the phases for a fault that ends leases: nothing for a lock without a lease.
    pub fn of_lease(strategy: &Strategy) -> Vec<Self> {
        match strategy.family() {
            "lease-lock" => Self::of_lock(strategy),
            _ => Vec::new(),
        }
    }

    /// Returns the phases for a fault in which `service` loses its data: nothing where the lock is elsewhere, and one
    /// phase where the stock is lost with the lock, because every phase then ends alike.
    pub fn of_lock_in(strategy: &Strategy, service: ServiceKind) -> Vec<Self> {
        let phases = Self::of_lock(strategy);
        let is_there = strategy.needs.iter().any(|need| need == service.name());
        let stores = [strategy.store.stock, strategy.store.orders];
        match (is_there && !phases.is_empty(), stores.contains(&service.name())) {
            (false, _) => Vec::new(),
            (true, true) => vec![Self::AtWork],
            (true, false) => phases,
        }
    }

    /// Returns the phases for a fault after which `service` has all its data again: one is enough, because no lock is
    /// lost. Nothing where the lock is elsewhere.
    pub fn of_kept_lock_in(strategy: &Strategy, service: ServiceKind) -> Vec<Self> {
        match Self::of_lock_in(strategy, service).as_slice() {
            [] => Vec::new(),
            _ => vec![Self::AtWork],
        }
    }
}

impl fmt::Display for Phase {
    /// Writes it for a sentence: `before the write`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::AtWork => "at work",
            Self::BeforeRenewal => "before a renewal",
            Self::AfterRenewal => "after a renewal",
            Self::BeforeWrite => "before the write",
        })
    }
}
