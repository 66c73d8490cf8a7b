//! What can be wrong with a round. [`Finding::ALL`] is the one list.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One kind of wrong, from the gravest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// Sold beyond the stock: the larger of told and recorded, minus the stock.
    Oversold,
    /// Recorded again under an idempotency key that had bought already.
    Duplicate,
    /// Told sold, and not in the ledger with this id, key, buyer and quantity, at any look after the answer.
    Lost,
    /// In the ledger, and nobody was told; what a purchase bought that never got an answer is not counted here.
    Ghost,
    /// Items of which units were left and nobody could buy any more: 1 at most, but in a market.
    Stuck,
    /// Left on the shelf while buyers who wanted them were told sold out.
    Undersold,
    /// Told sold out, and yet a purchase that was sent only afterwards was sold.
    FalseRefusal,
    /// The counter's drop minus the orders recorded.
    Drift,
    /// Entries of the ledger that cannot be read, and 1 for a counter that is missing or no number.
    Unreadable,
}

impl Finding {
    /// Every finding, from the gravest on.
    pub const ALL: [Self; 9] = [
        Self::Oversold,
        Self::Duplicate,
        Self::Lost,
        Self::Ghost,
        Self::Stuck,
        Self::Undersold,
        Self::FalseRefusal,
        Self::Drift,
        Self::Unreadable,
    ];

    /// Its name in results and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Oversold => "oversold",
            Self::Duplicate => "duplicate",
            Self::Lost => "lost",
            Self::Ghost => "ghost",
            Self::Stuck => "stuck",
            Self::Undersold => "undersold",
            Self::FalseRefusal => "false_refusal",
            Self::Drift => "drift",
            Self::Unreadable => "unreadable",
        }
    }
}

/// How much of each is wrong, in units of stock; 0 is right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    #[serde(flatten)]
    sizes: BTreeMap<Finding, i64>,
    /// Two holders inside at once, as the trace has it; `None` without one, and where nobody takes a lock. It stands beside
    /// what is wrong and decides nothing: a store may have refused one of the two.
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
    /// How much of it is wrong.
    pub fn of(&self, finding: Finding) -> i64 {
        self.sizes.get(&finding).copied().unwrap_or(0)
    }

    /// Finds that much, unless more was found before.
    pub fn add(&mut self, finding: Finding, size: i64) {
        let found = self.sizes.entry(finding).or_default();
        if size.unsigned_abs() > found.unsigned_abs() {
            *found = size;
        }
    }

    /// The same, with what a trace shows beside it.
    pub fn beside(self, overlap: Option<Overlap>) -> Self {
        Self { overlap, ..self }
    }

    /// What is wrong, from the gravest on.
    pub fn found(&self) -> impl Iterator<Item = (Finding, i64)> {
        let sizes = Finding::ALL.into_iter().map(|finding| (finding, self.of(finding)));
        sizes.filter(|(_, size)| *size != 0)
    }

    /// What is wrong by name, from the gravest on.
    pub fn named(&self) -> Vec<(&'static str, i64)> {
        self.found().map(|(finding, size)| (finding.name(), size)).collect()
    }
}

/// How often two purchases held the lock of one item at the same time. Either of them may have been refused by the store,
/// which is what a fence is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overlap {
    /// Pairs of purchases.
    pub pairs: u64,
    /// The longest time that two of them shared, in microseconds.
    pub longest_us: u64,
}
