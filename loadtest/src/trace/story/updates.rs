//! Purchases that show how one unit was sold twice.

use std::collections::{HashMap, HashSet};

use crate::trace::event::Role;
use crate::trace::purchase::{Step, TracedPurchase};

/// A purchase that read the stock and wrote it.
#[derive(Clone, Copy)]
pub(super) struct Update<'a> {
    purchase: &'a TracedPurchase,
    read: &'a Step,
    wrote: &'a Step,
}

impl<'a> Update<'a> {
    /// The last writing of a purchase, and the last reading before it.
    pub(super) fn of(purchase: &'a TracedPurchase) -> Option<Self> {
        let wrote = purchase.last(Role::Write).filter(|step| step.end.is_some())?;
        let is_read = |step: &&Step| step.role == Some(Role::Read) && step.began_ns < wrote.began_ns;
        let read = purchase.steps.iter().rfind(is_read).filter(|step| step.end.is_some())?;
        Some(Self { purchase, read, wrote })
    }

    /// One of each buyer: two deliveries of one purchase are no two sales.
    pub(super) fn all(purchases: &[&'a TracedPurchase]) -> Vec<Self> {
        let mut buyers = HashSet::new();
        let updates = purchases.iter().filter_map(|purchase| Self::of(purchase));
        updates.filter(|update| buyers.insert(&update.purchase.buyer)).collect()
    }

    /// When others could see what it wrote: after its commit, where there is one.
    fn seen_ns(&self) -> u64 {
        let is_commit = |step: &&Step| step.role == Some(Role::Commit) && step.began_ns > self.wrote.began_ns;
        let commit = self.purchase.steps.iter().find(is_commit);
        commit.unwrap_or(self.wrote).last_ns()
    }

    /// What it had read.
    pub(super) fn read_result(&self) -> Option<&'a str> {
        self.read.said()
    }

    fn said(&self) -> [Option<&'a str>; 2] {
        [self.read, self.wrote].map(Step::said)
    }
}

/// The latest two that met: the second one read before it could see what the first one wrote.
pub(super) fn met<'a>(mut updates: Vec<Update<'a>>) -> Vec<&'a TracedPurchase> {
    updates.sort_by_key(|update| update.read.began_ns);
    let meet = |pair: &&[Update<'_>]| pair[1].read.began_ns < pair[0].seen_ns();
    let mut pair = updates.windows(2).rfind(meet).unwrap_or_default().to_vec();
    pair.sort_by_key(|update| update.read.last_ns());
    pair.iter().map(|update| update.purchase).collect()
}

/// The latest two that read the same and wrote the same; those that met, where any did.
pub(super) fn lost_update<'a>(updates: Vec<Update<'a>>) -> Vec<&'a TracedPurchase> {
    let mut same: HashMap<[Option<&str>; 2], Vec<Update<'a>>> = HashMap::new();
    for update in updates {
        same.entry(update.said()).or_default().push(update);
    }
    let latest = |pairs: &mut dyn Iterator<Item = Vec<&'a TracedPurchase>>| {
        pairs.max_by_key(|pair| pair.first().map(|first| first.began_ns()))
    };
    let met = latest(&mut same.values().map(|same| met(same.clone())));
    // What the first one wrote was lost before the second one read.
    let apart = || latest(&mut same.into_values().map(apart));
    met.filter(|pair| !pair.is_empty()).or_else(apart).unwrap_or_default()
}

/// The latest two, whenever they were.
fn apart<'a>(mut updates: Vec<Update<'a>>) -> Vec<&'a TracedPurchase> {
    updates.sort_by_key(|update| update.read.began_ns);
    let pair = updates.last_chunk::<2>();
    pair.map(|pair| pair.map(|update| update.purchase).to_vec())
        .unwrap_or_default()
}

/// The latest two who read nothing and to whom the store said, with a number in it, the same of what they wrote.
pub(super) fn took_the_same<'a>(sold: &[&'a TracedPurchase]) -> Vec<&'a TracedPurchase> {
    let mut last: HashMap<&str, &'a TracedPurchase> = HashMap::new();
    let mut latest = Vec::new();
    for purchase in sold.iter().filter(|purchase| purchase.last(Role::Read).is_none()) {
        let wrote = purchase.last(Role::Write).and_then(Step::said);
        let Some(wrote) = wrote.filter(|said| said.contains(|letter: char| letter.is_ascii_digit())) else {
            continue;
        };
        if let Some(before) = last.insert(wrote, purchase)
            && before.buyer != purchase.buyer
        {
            latest = vec![before, *purchase];
        }
    }
    latest
}
