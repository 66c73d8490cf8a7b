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
    /// A lock that all instances see, and that ends with its holder's connection.
    SessionLock,
    /// Read, then write only if nobody else wrote in between.
    Optimistic,
    /// The store checks and takes in one step.
    Atomic,
    /// Stock and orders lie in two stores, and no transaction spans both.
    TwoStores,
}

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
    /// The threats under which it promises neither to oversell nor to get stuck, by their names in the load test.
    pub claims: &'static [&'static str],
    /// The services that it uses besides the store it sells from, see [`crate::services`].
    pub needs: &'static [&'static str],
}
