//! Actors: the purchases, renewals and workers that take steps.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use uuid::Uuid;

use crate::domain::{Name, Purchase};

/// The number of the next purchase of this process. Two deliveries of one idempotency key have one order id but are two
/// actors.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A purchase that is being carried out.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The number of the purchase in this process.
    pub number: u64,
    /// The id that the order will have.
    pub order: Uuid,
    /// The item.
    pub item: Name,
    /// The buyer.
    pub buyer: Name,
}

impl Attempt {
    pub(super) fn new(purchase: &Purchase) -> Self {
        Self {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            order: purchase.order,
            item: purchase.item.clone(),
            buyer: purchase.buyer.clone(),
        }
    }
}

/// An actor: it takes steps.
#[derive(Clone, Debug)]
pub enum Actor {
    /// A purchase.
    Purchase(Attempt),
    /// The background task that renews the lease of that purchase's lock.
    Renewal(Attempt),
    /// A background task that works for all purchases.
    Worker(Worker),
}

/// A background task that works for all purchases while its strategy is open.
#[derive(Clone, Debug)]
pub struct Worker {
    /// Its task, in one word.
    pub name: &'static str,
    /// The item it works on now, if it works on one.
    pub item: Option<Name>,
}

impl Actor {
    /// Returns the number of its purchase in this process; 0 where it belongs to none.
    pub fn number(&self) -> u64 {
        match self {
            Self::Purchase(attempt) | Self::Renewal(attempt) => attempt.number,
            Self::Worker(_) => 0,
        }
    }

    /// Returns the item it works on, if there is one.
    pub fn item(&self) -> Option<&Name> {
        match self {
            Self::Purchase(attempt) | Self::Renewal(attempt) => Some(&attempt.item),
            Self::Worker(worker) => worker.item.as_ref(),
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Purchase(attempt) => write!(f, "purchase {}", attempt.number),
            Self::Renewal(attempt) => write!(f, "renewal of purchase {}", attempt.number),
            Self::Worker(worker) => f.write_str(worker.name),
        }
    }
}
