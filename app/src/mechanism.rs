//! What a mechanism says of itself, as data: the source of `GET /strategies`, of every table and of what a load test expects.

use serde::Serialize;

/// By what kind of mechanism a strategy decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Nothing stands between read and write.
    NoLock,
    /// A lock inside one process.
    ProcessLock,
    /// A lock that all instances see, and that only its holder can end.
    LockWithoutLease,
    /// A lock that all instances see, and that ends by itself after some time.
    LeaseLock,
    /// A lock that all instances see, and that ends with its holder's connection or session.
    SessionLock,
    /// Read, then write only if nobody else wrote in between.
    Optimistic,
    /// The row is locked by the transaction that reads it, until that ends.
    RowLock,
    /// The store checks and takes in one step.
    Atomic,
    /// A buyer may buy so often; the stock itself is not protected.
    BuyerLimit,
    /// Stock and orders lie in two stores, and no transaction spans both.
    TwoStores,
    /// Stock and orders lie in two databases that are committed together.
    DistributedTransaction,
}

impl Family {
    /// In the words of the field.
    pub fn words(self) -> &'static str {
        match self {
            Self::NoLock => "no lock",
            Self::ProcessLock => "lock inside one process",
            Self::LockWithoutLease => "distributed lock without a lease",
            Self::LeaseLock => "lease lock",
            Self::SessionLock => "session lock",
            Self::Optimistic => "optimistic compare-and-set",
            Self::RowLock => "row lock in a transaction",
            Self::Atomic => "atomic conditional update",
            Self::BuyerLimit => "limit for each buyer",
            Self::TwoStores => "two stores without a common transaction",
            Self::DistributedTransaction => "transaction over two databases",
        }
    }
}

/// The threats that strategies are tried under, by their names in the load test: what breaks a mechanism is named in its file,
/// and all others it promises to survive.
pub const THREATS: &[&str] = &[
    "crowd",
    "second-instance",
    "crashed-holder",
    "slow-holder",
    "paused-holder",
    "blocked-runtime",
    "crashed-between",
    "redis-restart",
    "redis-restart-aof",
    "redis-failover",
    "sql-restart",
    "sql-gone",
    "store-silent",
    "lost-reply",
    "slow-network",
    "clock-jump",
    "session-expiry",
    "second-click",
    "retrying-proxy",
    "buyer-gone",
];

/// All threats that come with a second instance: what is broken by that is broken by each of them.
pub const TWO_INSTANCES: &[&str] = THREATS.split_first().expect("there are threats").1;

/// A mechanism, before anything is opened.
#[derive(Clone, Copy, Debug)]
pub struct Mechanism {
    /// The file's name with dashes, and the first half of a strategy's name.
    pub name: &'static str,
    /// The kind of mechanism.
    pub family: Family,
    /// Which lesson it belongs to, from 1: each repairs what the one before it lacks.
    pub lesson: u8,
    /// One line for a table.
    pub summary: &'static str,
    /// The threats that break it, by their names in the load test, all among [`THREATS`].
    pub broken_by: &'static [&'static str],
    /// Those of them, or others, that break it now and then, too seldom to be seen in every few rounds.
    pub sometimes_broken_by: &'static [&'static str],
    /// The step before which a fault does it the most harm, by its name or its role; with a `+` the fault comes after it.
    pub weak_at: &'static str,
    /// The services that it uses besides the store it sells from, see [`crate::services`].
    pub needs: &'static [&'static str],
    /// The file it is written in, whose header says how it works and what breaks it.
    pub source: &'static str,
}

impl Mechanism {
    /// The header of its file, as Markdown.
    pub fn header(&self) -> String {
        let lines = self.source.lines().map_while(|line| line.strip_prefix("//!"));
        let lines: Vec<_> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        lines.join("\n")
    }
}
