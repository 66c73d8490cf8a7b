//! The families of mechanisms, and the claims of each. A threat that a family does not name is undeclared.

use serde::Serialize;

/// The kind of mechanism by which a strategy decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// Read and write without any protection.
    NoLock,
    /// A lock inside one process.
    ProcessLock,
    /// A lock that all instances see, and that only its holder can end.
    LockWithoutLease,
    /// A lock that all instances see, and that ends by itself after some time.
    LeaseLock,
    /// A lock that all instances see, and that ends with its holder's connection or session.
    SessionLock,
    /// Read, then write only if the value has not changed since.
    Optimistic,
    /// The row is locked by the transaction that reads it, until that ends.
    RowLock,
    /// The store checks and takes in one step.
    Atomic,
    /// A limit on the purchases of each buyer; the stock itself is not protected.
    BuyerLimit,
    /// Stock and orders lie in two stores, and no transaction spans both.
    TwoStores,
    /// Stock and orders lie in two databases that are committed together.
    DistributedTransaction,
}

type Threats = &'static [&'static str];

// The threats by their names in the load test, in groups that most families treat alike.
const CROWD: Threats = &["crowd"];
/// More instances, instances that are replaced, and slow or repeated requests. They do not concern a lock that all
/// instances see.
const TRAFFIC: Threats = &[
    "second-instance",
    "rolling-replacement",
    "slow-network",
    "second-click",
    "retrying-proxy",
    "buyer-gone",
];
/// A store that restarts with all of its data.
const RECONNECT: Threats = &["redis-restart-aof", "redis-power-loss-synced"];
/// A slot of a cluster that moves to another node with all of its keys, locks included.
const SLOT: Threats = &["slot-migration"];
/// Background work that stops halfway, or that is done twice.
const WORKERS: Threats = &["reconciler-killed", "message-twice"];
/// A session that ends while its holder is at work.
const SESSION_END: Threats = &["session-expiry"];
/// The loss of as many lock nodes as may fail, of a leader among them, or of the right time: no lock ends early by a
/// clock that steps back.
const TOLERATED: Threats = &["minority-restart", "minority-clock-jump", "leader-change", "clock-back"];
/// A holder that never releases its lock, or a purchase that stops halfway.
const CRASH: Threats = &["crashed-holder", "crashed-between", "lost-reply"];
/// A holder that works for longer than its lease lasts.
const LONG_HOLD: Threats = &["slow-holder", "clock-jump"];
/// A holder that is stopped or blocked, together with the task that renews its lease or session.
const FREEZE: Threats = &["paused-holder", "blocked-runtime"];
const REDIS_LOSS: Threats = &["redis-restart", "redis-failover"];
const SQL_OUTAGE: Threats = &["sql-restart", "sql-gone"];
const SILENCE: Threats = &["store-silent"];
const FULL_DISK: Threats = &["disk-full"];
const NO_CONNECTION: Threats = &["pool-exhausted"];
/// A holder that cannot reach the service of its lock for longer than a lease, and can still write.
const CUT_OFF: Threats = &["instance-cut-off", "node-cut-off"];

const EVERYTHING: &[Threats] = &[
    CROWD,
    TRAFFIC,
    RECONNECT,
    SLOT,
    WORKERS,
    SESSION_END,
    TOLERATED,
    CRASH,
    LONG_HOLD,
    FREEZE,
    REDIS_LOSS,
    SQL_OUTAGE,
    SILENCE,
    FULL_DISK,
    NO_CONNECTION,
    CUT_OFF,
];

impl Family {
    /// Returns the threats that the family survives, and the threats that break it.
    const fn claims(self) -> (&'static [Threats], &'static [Threats]) {
        match self {
            Self::NoLock | Self::BuyerLimit => (&[], EVERYTHING),
            Self::ProcessLock => (
                &[CROWD],
                &[
                    TRAFFIC,
                    RECONNECT,
                    SLOT,
                    SESSION_END,
                    TOLERATED,
                    CRASH,
                    LONG_HOLD,
                    FREEZE,
                    REDIS_LOSS,
                    SQL_OUTAGE,
                    SILENCE,
                    FULL_DISK,
                    NO_CONNECTION,
                ],
            ),
            // A store that restarts with its data also keeps a lock whose owner was never told that it has it.
            Self::LockWithoutLease => (
                &[CROWD, TRAFFIC, SLOT, SESSION_END, TOLERATED, LONG_HOLD, FREEZE, CUT_OFF],
                &[CRASH, SILENCE],
            ),
            // A store that restarts with its data can be away for longer than the rest of a lease. The holder's write waits
            // for it, and comes after the lease.
            Self::LeaseLock => (
                &[CROWD, TRAFFIC, SLOT, SESSION_END, TOLERATED, CRASH],
                &[LONG_HOLD, FREEZE, REDIS_LOSS, SILENCE, CUT_OFF],
            ),
            Self::SessionLock => (
                &[
                    CROWD,
                    TRAFFIC,
                    RECONNECT,
                    SLOT,
                    TOLERATED,
                    CRASH,
                    LONG_HOLD,
                    REDIS_LOSS,
                    SQL_OUTAGE,
                    NO_CONNECTION,
                ],
                &[SESSION_END, FREEZE, SILENCE],
            ),
            Self::Optimistic | Self::RowLock | Self::Atomic | Self::TwoStores | Self::DistributedTransaction => {
                (EVERYTHING, &[])
            }
        }
    }

    /// Returns the threats that its mechanisms survive, unless a mechanism differs.
    pub fn survives(self) -> impl Iterator<Item = &'static str> {
        self.claims().0.iter().copied().flatten().copied()
    }

    /// Returns the threats that break its mechanisms, unless a mechanism differs.
    pub fn broken_by(self) -> impl Iterator<Item = &'static str> {
        self.claims().1.iter().copied().flatten().copied()
    }

    /// Returns the name of the family in plain words.
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
