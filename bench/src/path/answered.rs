//! Counts answers by status.

use std::collections::BTreeMap;
use std::ops::Sub;

/// The number of answers of each status.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answered(BTreeMap<u16, u64>);

/// The status of a sale.
const SOLD: u16 = 201;

/// The status of a purchase that waited too long for a guard.
const BUSY: u16 = 503;

impl Answered {
    /// Adds one answer.
    pub fn add(&mut self, status: u16) {
        *self.0.entry(status).or_default() += 1;
    }

    /// Returns the number of answers with this status.
    pub fn count(&self, status: u16) -> u64 {
        self.0.get(&status).copied().unwrap_or_default()
    }

    /// Returns the number of sales.
    pub fn sold(&self) -> u64 {
        self.count(SOLD)
    }

    /// Returns the number of purchases that were busy.
    pub fn busy(&self) -> u64 {
        self.count(BUSY)
    }

    /// Describes all other answers. None if every answer was sold or busy.
    pub fn others(&self) -> Option<String> {
        let others = self.0.iter().filter(|(status, _)| ![SOLD, BUSY].contains(status));
        let counts: Vec<String> = others.map(|(status, count)| format!("{count} of {status}")).collect();
        (!counts.is_empty()).then(|| counts.join(", "))
    }
}

impl Sub<&Answered> for &Answered {
    type Output = Answered;

    /// Counts the answers that came after `earlier`.
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
    fn earlier_answers_are_subtracted_and_other_statuses_are_described() {
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
