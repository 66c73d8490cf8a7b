//! Findings of a round. [`Finding::ALL`] is the list.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One kind of finding, the gravest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// Units sold beyond the stock: the larger of told and recorded, minus the stock.
    Oversold,
    /// Units recorded again under an idempotency key that had bought already.
    Duplicate,
    /// Units told sold that are missing in the ledger, with this id, key, buyer and quantity, in any reading after the
    /// response.
    Lost,
    /// Units in the ledger that no buyer was told of. Purchases that never got a response are not counted here.
    Ghost,
    /// Items of which units were left although no buyer could buy any more: more than 1 only with several items.
    Stuck,
    /// Units of the purchases that were sent while one instance of several was dead, if none of them got a clear
    /// response.
    Unavailable,
    /// Units left although buyers were told sold out.
    Undersold,
    /// Units told sold out before a later purchase was sent that was sold.
    FalseRefusal,
    /// The counter's drop minus the orders recorded: when the sale is over, and at any moment where both have to change
    /// together.
    Drift,
    /// Entries of the ledger that cannot be read, and 1 for a counter that is missing or not a number.
    Unreadable,
}

impl Finding {
    /// Every finding, the gravest first.
    pub const ALL: [Self; 10] = [
        Self::Oversold,
        Self::Duplicate,
        Self::Lost,
        Self::Ghost,
        Self::Stuck,
        Self::Unavailable,
        Self::Undersold,
        Self::FalseRefusal,
        Self::Drift,
        Self::Unreadable,
    ];

    /// Returns its name in results and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Oversold => "oversold",
            Self::Duplicate => "duplicate",
            Self::Lost => "lost",
            Self::Ghost => "ghost",
            Self::Stuck => "stuck",
            Self::Unavailable => "unavailable",
            Self::Undersold => "undersold",
            Self::FalseRefusal => "false_refusal",
            Self::Drift => "drift",
            Self::Unreadable => "unreadable",
        }
    }
}

/// The size of each finding, in units of stock; 0 is right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    #[serde(flatten)]
    sizes: BTreeMap<Finding, i64>,
    /// Two holders of one lock at once, by the trace; `None` without a trace, and for strategies without a lock. It
    /// does not change the verdict: the store may have refused one of the two holders.
    pub overlap: Option<Overlap>,
}

impl Default for Findings {
    fn default() -> Self {
        Self {
            sizes: Finding::ALL.into_iter().map(|finding| (finding, 0)).collect(),
            overlap: None,
        }
    }
}

impl Findings {
    /// Returns the size of a finding.
    pub fn of(&self, finding: Finding) -> i64 {
        self.sizes.get(&finding).copied().unwrap_or(0)
    }

    /// Records a finding of that size, unless a larger one was recorded before.
    pub fn add(&mut self, finding: Finding, size: i64) {
        let found = self.sizes.entry(finding).or_default();
        if size.unsigned_abs() > found.unsigned_abs() {
            *found = size;
        }
    }

    /// Adds the overlap that a trace shows.
    pub fn with_overlap(self, overlap: Option<Overlap>) -> Self {
        Self { overlap, ..self }
    }

    /// Returns the findings that are not 0, the gravest first.
    pub fn found(&self) -> impl Iterator<Item = (Finding, i64)> {
        let sizes = Finding::ALL.into_iter().map(|finding| (finding, self.of(finding)));
        sizes.filter(|(_, size)| *size != 0)
    }

    /// Returns the names and sizes of these findings, the gravest first.
    pub fn named(&self) -> Vec<(&'static str, i64)> {
        self.found().map(|(finding, size)| (finding.name(), size)).collect()
    }
}

/// Purchases that held the lock of one item at the same time. The store may have refused one of the two: a fence is for
/// that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overlap {
    /// Pairs of purchases.
    pub pairs: u64,
    /// The longest time that two of them shared, in microseconds.
    pub longest_us: u64,
}
