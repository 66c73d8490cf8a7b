//! Which purchases show a finding.

use std::collections::{HashMap, HashSet};

use crate::answer::Word;
use crate::audit::Finding;
use crate::facts::Facts;
use crate::told::Told;
use crate::trace::event::Role;
use crate::trace::holding::Holding;
use crate::trace::purchase::{Purchase, Step};

/// Those that show it best, the first one first; those that met if it has no better ones, and none if none did.
pub(super) fn chosen<'a>(
    finding: Finding,
    purchases: &'a [Purchase],
    told: &Told,
    ledger: Option<&Facts>,
) -> Vec<&'a Purchase> {
    let shown = match finding {
        Finding::Oversold | Finding::Drift => lost_update(Update::all(&sold(purchases, told))),
        Finding::Stuck => stuck(purchases),
        Finding::Lost | Finding::Ghost | Finding::Duplicate => {
            let wrong = ledger
                .map(|ledger| wrong_orders(finding, told, ledger))
                .unwrap_or_default();
            let is_wrong = |purchase: &&Purchase| purchase.order.as_deref().is_some_and(|order| wrong.contains(order));
            purchases.iter().filter(is_wrong).collect()
        }
        Finding::FalseRefusal => refused_and_sold(purchases, told),
        Finding::Undersold | Finding::Unreadable => Vec::new(),
    };
    if shown.is_empty() {
        met(Update::all(&sold(purchases, told)))
    } else {
        shown
    }
}

/// The deliveries of purchases that were told sold.
fn sold<'a>(purchases: &'a [Purchase], told: &Told) -> Vec<&'a Purchase> {
    let sold = told.answers().filter(|answer| answer.word == Word::Sold);
    let buyers: HashSet<&str> = sold.map(|answer| answer.buyer.as_str()).collect();
    purchases
        .iter()
        .filter(|purchase| buyers.contains(purchase.buyer.as_str()))
        .collect()
}

/// A purchase that read the stock and wrote it.
#[derive(Clone, Copy)]
struct Update<'a> {
    purchase: &'a Purchase,
    read: &'a Step,
    wrote: &'a Step,
}

impl<'a> Update<'a> {
    /// The last writing of a purchase, and the last reading before it.
    fn of(purchase: &'a Purchase) -> Option<Self> {
        let wrote = purchase.last(Role::Write).filter(|step| step.end.is_some())?;
        let is_read = |step: &&Step| step.role == Some(Role::Read) && step.began_ns < wrote.began_ns;
        let read = purchase.steps.iter().rfind(is_read).filter(|step| step.end.is_some())?;
        Some(Self { purchase, read, wrote })
    }

    /// One of each buyer: two deliveries of one purchase are no two sales.
    fn all(purchases: &[&'a Purchase]) -> Vec<Self> {
        let mut buyers = HashSet::new();
        let updates = purchases.iter().filter_map(|purchase| Self::of(purchase));
        updates.filter(|update| buyers.insert(&update.purchase.buyer)).collect()
    }

    fn said(&self) -> [Option<&'a str>; 2] {
        [self.read, self.wrote].map(|step| step.end.as_ref().map(|end| end.said.as_str()))
    }
}

/// The latest two that met: the second one read before the first one had written.
fn met<'a>(mut updates: Vec<Update<'a>>) -> Vec<&'a Purchase> {
    updates.sort_by_key(|update| update.read.began_ns);
    let meet = |pair: &&[Update<'_>]| pair[1].read.began_ns < pair[0].wrote.last_ns();
    let mut pair = updates.windows(2).rfind(meet).unwrap_or_default().to_vec();
    pair.sort_by_key(|update| update.read.last_ns());
    pair.iter().map(|update| update.purchase).collect()
}

/// The latest two that met, read the same and wrote the same.
fn lost_update<'a>(updates: Vec<Update<'a>>) -> Vec<&'a Purchase> {
    let mut same: HashMap<[Option<&str>; 2], Vec<Update<'a>>> = HashMap::new();
    for update in updates {
        same.entry(update.said()).or_default().push(update);
    }
    let pairs = same.into_values().map(met);
    pairs
        .max_by_key(|pair| pair.first().map(|first| first.began_ns()))
        .unwrap_or_default()
}

/// The last one who took the lock and never gave it back, and the first one who then asked for it in vain.
fn stuck(purchases: &[Purchase]) -> Vec<&Purchase> {
    let last_holding = |purchase: &Purchase| Holding::all(purchase).pop();
    let inside = purchases
        .iter()
        .filter(|purchase| last_holding(purchase).is_some_and(|holding| !holding.is_released))
        .max_by_key(|purchase| (purchase.is_life_over, purchase.last_ns()));
    // Killed right after it had taken the lock; others who were killed while they asked for it did so later.
    let died_at_it = || {
        let at_lock = |step: &Step| step.role == Some(Role::Lock) && step.end.is_some();
        let dead = purchases.iter().filter(|purchase| purchase.is_life_over);
        let dead = dead.filter(|purchase| purchase.steps.last().is_some_and(at_lock));
        dead.min_by_key(|purchase| purchase.last_ns())
    };
    let Some(holder) = inside.or_else(died_at_it) else {
        return Vec::new();
    };
    let asks_in_vain = |purchase: &&Purchase| {
        let asked = purchase.last(Role::Lock).map(|step| step.began_ns);
        !purchase.is_life_over && asked > Some(holder.last_ns()) && Holding::all(purchase).is_empty()
    };
    [holder]
        .into_iter()
        .chain(purchases.iter().find(asks_in_vain))
        .collect()
}

/// The ids of orders that were promised and are not in the ledger, that are there and were promised to nobody, or that
/// share an idempotency key.
fn wrong_orders<'a>(finding: Finding, told: &'a Told, ledger: &'a Facts) -> HashSet<&'a str> {
    let sold = told.answers().filter(|answer| answer.word == Word::Sold);
    let promised: HashSet<&str> = sold.filter_map(|answer| answer.order.as_deref()).collect();
    let recorded = || ledger.orders.iter().map(|order| order.id.as_str());
    if finding == Finding::Lost {
        let recorded: HashSet<&str> = recorded().collect();
        return promised.difference(&recorded).copied().collect();
    }
    if finding == Finding::Ghost {
        return recorded().filter(|order| !promised.contains(order)).collect();
    }
    let mut keys: HashMap<&str, usize> = HashMap::new();
    for key in ledger.orders.iter().filter_map(|order| order.key.as_deref()) {
        *keys.entry(key).or_default() += 1;
    }
    let is_shared = |key: &str| keys.get(key).is_some_and(|orders| *orders > 1);
    let shared = ledger
        .orders
        .iter()
        .filter(|order| order.key.as_deref().is_some_and(is_shared));
    shared.map(|order| order.id.as_str()).collect()
}

/// The first one who was told sold out, and the last one who was sold to all the same.
fn refused_and_sold<'a>(purchases: &'a [Purchase], told: &Told) -> Vec<&'a Purchase> {
    let told = told.purchases();
    let refused = told.iter().filter(|purchase| purchase.word == Word::SoldOut);
    let refused = refused.min_by_key(|purchase| purchase.refused);
    let sold = told
        .iter()
        .filter(|purchase| purchase.word == Word::Sold)
        .max_by_key(|purchase| purchase.sent);
    let of = |buyer: &str| purchases.iter().find(|purchase| purchase.buyer == buyer);
    [refused, sold]
        .into_iter()
        .flatten()
        .filter_map(|told| of(told.buyer))
        .collect()
}
