//! The waits of the buyers for the lock, and their fairness.

use std::collections::{BTreeMap, HashSet};

use super::event::Role;
use super::purchase::TracedPurchase;
use crate::responses::Responses;

/// The waits of the buyers of an attack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waits {
    /// The longest wait, in microseconds.
    pub longest_us: u64,
    /// Jain's index over the buyers' waits, (sum x)^2 / (n * sum x^2), to a thousandth: 1 where all waited equally
    /// long, 1/n where one of n did all the waiting. `None` of fewer than two buyers.
    ///
    /// Its usual form counts the turns of each client. Here each buyer takes one turn, so it counts waits.
    pub jain: Option<f64>,
}

impl Waits {
    /// Measures each wait from the begin of a purchase's first lock step to the end of its last one, with or without
    /// the lock. A buyer that came more than once counts with the longest wait. A buyer that came only after the attack
    /// does not count. Returns `None` where no purchase asked for a lock.
    pub fn of(purchases: &[TracedPurchase], responses: &Responses) -> Option<Self> {
        let attack: HashSet<&str> = responses
            .attack
            .iter()
            .map(|response| response.buyer.as_str())
            .collect();
        let mut waits: BTreeMap<&str, u64> = BTreeMap::new();
        for purchase in purchases
            .iter()
            .filter(|purchase| attack.contains(purchase.buyer.as_str()))
        {
            if let Some(wait) = wait_ns(purchase) {
                let longest = waits.entry(&purchase.buyer).or_default();
                *longest = wait.max(*longest);
            }
        }
        let longest = waits.values().max()?;
        Some(Self {
            longest_us: longest / 1_000,
            jain: jain(waits.values().map(|wait| *wait as f64)),
        })
    }
}

fn wait_ns(purchase: &TracedPurchase) -> Option<u64> {
    let mut asks = purchase.steps.iter().filter(|step| step.role == Some(Role::Lock));
    let first = asks.next()?;
    let last = asks.next_back().unwrap_or(first);
    Some(last.last_ns().saturating_sub(first.began_ns))
}

fn jain(waits: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let n = waits.clone().count();
    let (sum, squares): (f64, f64) = (waits.clone().sum(), waits.map(|wait| wait * wait).sum());
    (n > 1 && squares > 0.0).then(|| (sum * sum / (n as f64 * squares) * 1_000.0).round() / 1_000.0)
}
