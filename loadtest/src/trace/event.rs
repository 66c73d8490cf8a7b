//! The trace of one instance, as it comes over the wire. Its size is bounded, and control characters are removed.

use serde::{Deserialize, Deserializer, Serialize};

use super::value::StepValue;
use crate::shop::response::MAX_ORDER_ID;
use crate::text::{MAX_NAME, one_line};

/// The most events that are taken from one instance.
const MAX_EVENTS: usize = 250_000;

/// The longest result of a step, in characters.
const MAX_WORDS: usize = 80;

/// The longest key of a step, in bytes.
const MAX_KEY: usize = 256;

/// The role that a step plays in any sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Asks for the lock.
    Lock,
    /// Asks for one of several permits, which exclude nobody.
    Permit,
    /// Reads the stock.
    Read,
    /// Writes the stock.
    Write,
    /// Writes the order into the ledger.
    Record,
    /// Makes stock and order durable together.
    Commit,
    /// Gives the lock or the permit back.
    Release,
    /// Renews the lease of the lock.
    Renew,
    /// Asks whether the lock is still the holder's.
    Verify,
    /// A role that is not known here.
    #[serde(other)]
    Other,
}

/// The begin or the end of a step.
#[derive(Clone, Debug, Deserialize)]
pub struct Event {
    /// The time in nanoseconds, by the clock that all instances share.
    pub at_ns: u64,
    /// The life of the instance. Each restart begins a new one.
    pub life: String,
    /// The part of the shop that takes the step: `purchase`, or a task beside it.
    pub actor: String,
    /// The number of the purchase in this life.
    pub number: Option<u64>,
    /// The id that its order has or would have.
    pub order: Option<String>,
    /// The buyer.
    pub buyer: Option<String>,
    /// The shop's name for the step.
    pub step: String,
    /// The role that it plays, if any.
    pub role: Option<Role>,
    /// The object of the step, such as a row or a transaction; empty where it is not known.
    #[serde(default, deserialize_with = "text")]
    pub key: String,
    /// The result; `None` at the begin of the step.
    pub said: Option<String>,
    /// The value in the result, if there is one.
    #[serde(default, deserialize_with = "StepValue::known")]
    pub value: Option<StepValue>,
}

/// The trace that one instance wrote of a sale.
#[derive(Clone, Debug, Deserialize)]
pub struct InstanceTrace {
    /// The instance's name.
    pub instance: String,
    /// The clock of all events.
    pub clock: Option<String>,
    /// The number of events that are missing.
    pub dropped: u64,
    /// The events, in the order in which they were written.
    pub events: Vec<Event>,
}

impl InstanceTrace {
    /// Reads a response to `GET /sales/{item}/trace`. Returns `None` when it is not a whole trace.
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

/// Reads a text. Anything else counts as an empty one.
fn text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(match serde_json::Value::deserialize(from)? {
        serde_json::Value::String(text) => text,
        _ => String::new(),
    })
}

impl Event {
    /// Whether each text that tells purchases apart fits: a cut one could make two purchases look like one.
    fn fits(&self) -> bool {
        let within = |text: &Option<String>, longest| text.as_ref().is_none_or(|text| text.len() <= longest);
        let names = [&self.life, &self.actor, &self.step];
        names.iter().all(|name| name.len() <= MAX_NAME)
            && within(&self.order, MAX_ORDER_ID)
            && within(&self.buyer, MAX_NAME)
    }

    fn clean(&mut self) {
        self.step = one_line(&self.step, MAX_NAME);
        // A cut key could make two objects look like one.
        if self.key.len() > MAX_KEY {
            self.key.clear();
        }
        self.said = self.said.as_ref().map(|said| one_line(said, MAX_WORDS));
        self.role = self.role.filter(|role| *role != Role::Other);
    }
}
