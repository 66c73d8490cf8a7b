//! How buyers were answered, counted.

use std::collections::BTreeMap;
use std::ops::Sub;

/// Answers, by status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answered(BTreeMap<u16, u64>);

/// The status of a sale.
const SOLD: u16 = 201;

/// The status of a purchase that waited too long for its turn.
const BUSY: u16 = 503;

impl Answered {
    /// One more.
    pub fn add(&mut self, status: u16) {
        *self.0.entry(status).or_default() += 1;
    }

    /// How many had this status.
    pub fn count(&self, status: u16) -> u64 {
        self.0.get(&status).copied().unwrap_or_default()
    }

    /// Sales.
    pub fn sold(&self) -> u64 {
        self.count(SOLD)
    }

    /// Purchases that were told to come again.
    pub fn busy(&self) -> u64 {
        self.count(BUSY)
    }

    /// What else there was, in words; nothing where all were sold or told busy.
    pub fn others(&self) -> Option<String> {
        let others = self.0.iter().filter(|(status, _)| ![SOLD, BUSY].contains(status));
        let told: Vec<String> = others.map(|(status, count)| format!("{count} of {status}")).collect();
        (!told.is_empty()).then(|| told.join(", "))
    }
}

impl Sub<&Answered> for &Answered {
    type Output = Answered;

    /// Those that came after `earlier`.
    fn sub(self, earlier: &Answered) -> Answered {
        let since = self
            .0
            .iter()
            .map(|(status, count)| (*status, count - earlier.count(*status)));
        Answered(since.filter(|(_, count)| *count > 0).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_before_is_not_counted_again_and_what_is_neither_sold_nor_busy_is_told() {
        let mut answered = Answered::default();
        let mut add = |statuses: &[u16]| {
            statuses.iter().for_each(|status| answered.add(*status));
            answered.clone()
        };
        let before = add(&[201, 503, 409]);
        let after = add(&[201, 201, 500, 500, 404]);
        let since = &after - &before;
        assert_eq!((since.sold(), since.busy(), since.count(409)), (2, 0, 0));
        assert_eq!(since.others().as_deref(), Some("1 of 404, 2 of 500"));
        assert_eq!((&before - &Answered::default()).others().as_deref(), Some("1 of 409"));
        assert_eq!((&after - &after).others(), None);
    }
}
