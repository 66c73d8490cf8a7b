//! The seam: every command a strategy sends and every turn a guard takes is a named step that passes here.
//!
//! What stands at the seam sees each step just before it is taken: the trace (`OVERSELL_LOG=trace`) writes it down, and
//! a [`Fault`] stops or kills the process exactly there. Without either a step costs one relaxed atomic load.

mod fault;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use uuid::Uuid;

pub use fault::{BadFault, Blow, Fault, Faults};

/// What a strategy or a guard is about to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Ask for the turn.
    Lock,
    /// Read the stock.
    Read,
    /// Write the stock.
    Write,
    /// Enter the order in the ledger.
    Record,
    /// Make stock and order durable together.
    Commit,
    /// Give the turn back.
    Release,
    /// Prolong the lease of the turn.
    Renew,
}

impl Step {
    /// All steps, in the order in which a purchase meets them.
    pub const ALL: [Self; 7] = [
        Self::Lock,
        Self::Read,
        Self::Write,
        Self::Record,
        Self::Commit,
        Self::Release,
        Self::Renew,
    ];
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lock => "lock",
            Self::Read => "read",
            Self::Write => "write",
            Self::Record => "record",
            Self::Commit => "commit",
            Self::Release => "release",
            Self::Renew => "renew",
        })
    }
}

impl FromStr for Step {
    type Err = BadFault;

    fn from_str(text: &str) -> Result<Self, BadFault> {
        Self::ALL
            .into_iter()
            .find(|step| step.to_string() == text)
            .ok_or(BadFault::Step)
    }
}

/// One purchase's way through the seam.
#[derive(Clone, Debug)]
pub struct Probe {
    order: Uuid,
    work: Duration,
    fault: Option<Fault>,
    faults: Arc<Faults>,
}

impl Probe {
    /// The probe of one purchase: `work` is the business time between read and write, `fault` strikes this purchase
    /// alone, and `faults` are those armed for the whole process.
    pub fn new(order: Uuid, work: Duration, fault: Option<Fault>, faults: Arc<Faults>) -> Self {
        Self {
            order,
            work,
            fault,
            faults,
        }
    }

    /// Passes the seam just before `step` is taken. It may not come back: a fault can kill the process here.
    pub async fn at(&self, step: Step) {
        tracing::trace!(target: "oversell::probe", order = %self.order, %step);
        if let Some(fault) = &self.fault
            && fault.step == Some(step)
        {
            fault.blow.strike();
        }
        self.faults.strike_at(step);
    }

    /// The business time between read and write: prices, payment, whatever a real shop does there.
    pub async fn work(&self) {
        if !self.work.is_zero() {
            tokio::time::sleep(self.work).await;
        }
    }
}
