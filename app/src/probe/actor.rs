//! Actors: who takes a step.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use uuid::Uuid;

use crate::domain::{Name, Purchase};

/// Numbers the purchases of this process: two deliveries of one idempotency key have one order and are two actors.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A purchase that is being carried out.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// Which purchase of this process.
    pub number: u64,
    /// The id that the order will have.
    pub order: Uuid,
    /// What is wanted.
    pub item: Name,
    /// Who wants it.
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

/// Who takes a step.
#[derive(Clone, Debug)]
pub enum Actor {
    /// The purchase itself.
    Purchase(Attempt),
    /// What prolongs the lease of that purchase's lock, beside it.
    Renewal(Attempt),
    /// What works beside the purchases, for all of them.
    Worker(Worker),
}

/// What works beside the purchases, for as long as its strategy is open.
#[derive(Clone, Debug)]
pub struct Worker {
    /// What it does, in a word.
    pub name: &'static str,
    /// The item it is about just now, where it is about one.
    pub item: Option<Name>,
}

impl Actor {
    /// Which purchase of this process it belongs to; 0 where it belongs to none.
    pub fn number(&self) -> u64 {
        match self {
            Self::Purchase(attempt) | Self::Renewal(attempt) => attempt.number,
            Self::Worker(_) => 0,
        }
    }

    /// The item it is about, where it is about one.
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
