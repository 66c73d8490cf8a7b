//! Purchases that show a unit being sold twice.

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
    /// Returns the last write of a purchase and the last read before it.
    pub(super) fn of(purchase: &'a TracedPurchase) -> Option<Self> {
        let wrote = purchase.last(Role::Write).filter(|step| step.end.is_some())?;
        let is_read = |step: &&Step| step.role == Some(Role::Read) && step.began_ns < wrote.began_ns;
        let read = purchase.steps.iter().rfind(is_read).filter(|step| step.end.is_some())?;
        Some(Self { purchase, read, wrote })
    }

    /// Returns one update of each buyer: two deliveries of one purchase are not two sales.
    pub(super) fn all(purchases: &[&'a TracedPurchase]) -> Vec<Self> {
        let mut buyers = HashSet::new();
        let updates = purchases.iter().filter_map(|purchase| Self::of(purchase));
        updates.filter(|update| buyers.insert(&update.purchase.buyer)).collect()
    }

    /// Returns the time from which other purchases see the write: the end of its commit, where there is one.
    fn seen_ns(&self) -> u64 {
        let is_commit = |step: &&Step| step.role == Some(Role::Commit) && step.began_ns > self.wrote.began_ns;
        let commit = self.purchase.steps.iter().find(is_commit);
        commit.unwrap_or(self.wrote).last_ns()
    }

    /// Returns the result of the read.
    pub(super) fn read_result(&self) -> Option<&'a str> {
        self.read.said()
    }

    fn said(&self) -> [Option<&'a str>; 2] {
        [self.read, self.wrote].map(Step::said)
    }
}

/// Returns the latest two that overlapped: the second one read before it could see the write of the first one.
pub(super) fn met<'a>(mut updates: Vec<Update<'a>>) -> Vec<&'a TracedPurchase> {
    updates.sort_by_key(|update| update.read.began_ns);
    let meet = |pair: &&[Update<'_>]| pair[1].read.began_ns < pair[0].seen_ns();
    let mut pair = updates.windows(2).rfind(meet).unwrap_or_default().to_vec();
    pair.sort_by_key(|update| update.read.last_ns());
    pair.iter().map(|update| update.purchase).collect()
}

/// Returns the latest two that read the same and wrote the same. Two that overlapped are preferred.
pub(super) fn lost_update<'a>(updates: Vec<Update<'a>>) -> Vec<&'a TracedPurchase> {
    let mut same: HashMap<[Option<&str>; 2], Vec<Update<'a>>> = HashMap::new();
    for update in updates {
        same.entry(update.said()).or_default().push(update);
    }
    let latest = |pairs: &mut dyn Iterator<Item = Vec<&'a TracedPurchase>>| {
        pairs.max_by_key(|pair| pair.first().map(|first| first.began_ns()))
    };
    let met = latest(&mut same.values().map(|same| met(same.clone())));
    // The store lost the first write before the second read.
    let apart = || latest(&mut same.into_values().map(apart));
    met.filter(|pair| !pair.is_empty()).or_else(apart).unwrap_or_default()
}

/// Returns the latest two, with or without an overlap.
fn apart<'a>(mut updates: Vec<Update<'a>>) -> Vec<&'a TracedPurchase> {
    updates.sort_by_key(|update| update.read.began_ns);
    let pair = updates.last_chunk::<2>();
    pair.map(|pair| pair.map(|update| update.purchase).to_vec())
        .unwrap_or_default()
}

/// Returns the latest two that wrote without a read and got the same result with a number in it, such as the same
/// stock.
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
