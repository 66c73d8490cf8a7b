//! What an instance wrote down, as it comes over the wire: bounded, and cleaned of what could move a cursor.

use serde::{Deserialize, Serialize};

use crate::shop::response::MAX_ORDER_ID;
use crate::text::{MAX_NAME, one_line};

/// The most events that are taken from one instance.
const MAX_EVENTS: usize = 250_000;

/// The most that is kept of what came back, in characters.
const MAX_WORDS: usize = 80;

/// The role that a step plays in any sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Asks for the lock.
    Lock,
    /// Reads the stock.
    Read,
    /// Writes the stock.
    Write,
    /// Enters the order in the ledger.
    Record,
    /// Makes stock and order durable together.
    Commit,
    /// Gives the lock back.
    Release,
    /// Prolongs the lease of the lock.
    Renew,
    /// One that is not known here.
    #[serde(other)]
    Other,
}

/// One side of a step.
#[derive(Clone, Debug, Deserialize)]
pub struct Event {
    /// Nanoseconds of the clock that all instances share.
    pub at_ns: u64,
    /// The life of the instance: another one after each restart.
    pub life: String,
    /// `purchase`, or whoever works beside it.
    pub actor: String,
    /// Which purchase of this life.
    pub number: Option<u64>,
    /// The id that its order has or would have.
    pub order: Option<String>,
    /// Who buys.
    pub buyer: Option<String>,
    /// The step, as the shop calls it.
    pub step: String,
    /// The role that it plays, if any.
    pub role: Option<Role>,
    /// What came back; `None` where the step begins.
    pub said: Option<String>,
}

/// All that one instance wrote down of a sale.
#[derive(Clone, Debug, Deserialize)]
pub struct InstanceTrace {
    /// The instance's name.
    pub instance: String,
    /// The clock of all events.
    pub clock: Option<String>,
    /// Events that are missing.
    pub dropped: u64,
    /// In the order in which they were written.
    pub events: Vec<Event>,
}

impl InstanceTrace {
    /// Reads an answer of `GET /sales/{item}/trace`; `None` when it is none, or is not whole.
    pub fn parse(json: &[u8]) -> Option<Self> {
        let mut trace: Self = serde_json::from_slice(json).ok()?;
        let is_named = (1..=MAX_NAME).contains(&trace.instance.len());
        if !is_named || trace.dropped > 0 || trace.events.len() > MAX_EVENTS || !trace.events.iter().all(Event::fits) {
            return None;
        }
        trace.instance = one_line(&trace.instance, MAX_NAME);
        trace.events.iter_mut().for_each(Event::clean);
        Some(trace)
    }
}

impl Event {
    /// Whether all that tells purchases apart is there in full.
    fn fits(&self) -> bool {
        let within = |text: &Option<String>, longest| text.as_ref().is_none_or(|text| text.len() <= longest);
        let names = [&self.life, &self.actor, &self.step];
        names.iter().all(|name| name.len() <= MAX_NAME)
            && within(&self.order, MAX_ORDER_ID)
            && within(&self.buyer, MAX_NAME)
    }

    fn clean(&mut self) {
        self.step = one_line(&self.step, MAX_NAME);
        self.said = self.said.as_ref().map(|said| one_line(said, MAX_WORDS));
        self.role = self.role.filter(|role| *role != Role::Other);
    }
}
