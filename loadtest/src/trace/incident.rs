//! Incidents: events of an attack that are no steps of a purchase, such as a pause or a kill. An injection notes them
//! by the clock of the load test.

use std::time::Instant;

use serde::{Deserialize, Serialize};

/// The kind of an incident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IncidentKind {
    /// An instance was paused with SIGSTOP.
    Paused,
    /// All threads of an instance were blocked.
    Blocked,
    /// An instance was killed.
    Killed,
    /// A store was killed and started again with the data that it kept on disk.
    Restarted,
    /// A store that keeps no data on disk was killed and started again.
    RestartedEmpty,
    /// A store was killed and started again with the data that it had synced to its disk.
    PowerLost,
    /// A replica was cut off from its store.
    CutOff,
    /// A store was killed, and the replica that had been cut off took its place.
    FailedOver,
    /// A slot of a Redis Cluster moved to another node.
    SlotMoved,
    /// A store evicted keys to make room for others.
    Evicted,
    /// A store refused writes, for lack of memory.
    OutOfMemory,
    /// The disk of a store was full.
    DiskFull,
    /// A store ended all its connections.
    HungUp,
    /// All connections of an instance to a store were in use.
    NoConnection,
    /// Nothing arrived at a store, or from it.
    Silent,
    /// The replies of a store did not arrive.
    RepliesLost,
    /// Clocks jumped ahead by more than a lease.
    ClockAhead,
    /// Clocks stepped back by more than a lease.
    ClockBack,
    /// An instance was asked to end, and a new process took its place.
    Replaced,
    /// The lease of a purchase's lock ended, and the purchase went on.
    LeaseEnded,
    /// A background worker took a step between those of purchases. The subject is the worker with its step.
    Worked,
}

/// An incident by the clock of the load test.
#[derive(Clone, Debug)]
pub struct Incident {
    /// The kind.
    pub kind: IncidentKind,
    /// The instance, or the stores.
    pub subject: String,
    /// The begin.
    pub from: Instant,
    /// The end; `None` where it did not last.
    pub to: Option<Instant>,
}

/// An incident by the clock of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedIncident {
    /// The kind.
    pub kind: IncidentKind,
    /// The instance, or the stores.
    pub subject: String,
    /// The begin, in nanoseconds.
    pub from_ns: u64,
    /// The end, in nanoseconds; `None` where it did not last.
    pub to_ns: Option<u64>,
}
