//! A trial of a shop: rounds, each with a sale of its own.

use std::sync::atomic::AtomicU64;

use anyhow::{Context, Result};
use loadtest::trust::Trust;
use stack::Relay;
use url::Url;
use uuid::Uuid;

use crate::description::{Answer, Description, FaultKind, Values};
use crate::hidden::Hidden;

/// The most characters of an unclear answer that are shown.
const MAX_SHOWN: usize = 500;

/// A trial of one shop.
pub struct Trial {
    pub(crate) description: Description,
    pub(crate) base: Url,
    /// The certificates that are trusted.
    pub(crate) trust: Trust,
    hidden: Hidden,
    /// What the names of its buyers and items have in common.
    pub(crate) run: String,
    /// The number of the next round.
    pub(crate) rounds: AtomicU64,
    /// What stands before a store and disturbs it, where the fault needs it.
    pub(crate) relay: Option<Relay>,
}

impl Trial {
    /// Begins the trial of a described shop whose certificates are trusted so.
    ///
    /// # Errors
    /// When the relay of the fault cannot listen.
    pub fn new(description: Description, trust: Trust) -> Result<Self> {
        let base = description.base()?;
        let hidden = Hidden::new(&description.secrets());
        let run = Uuid::new_v4().simple().to_string();
        let relay = match description.fault.as_ref().map(|fault| &fault.kind) {
            Some(FaultKind::Relay(relay)) => Some(Relay::start_at(relay.from, relay.to).context("`relay` in [fault]")?),
            Some(FaultKind::Program { .. }) | None => None,
        };
        Ok(Self {
            relay,
            description,
            base,
            trust,
            hidden,
            run: run.chars().take(8).collect(),
            rounds: AtomicU64::new(1),
        })
    }

    /// Returns whether the shop file has a fault.
    pub fn has_fault(&self) -> bool {
        self.description.fault.is_some()
    }

    /// Returns the base URL of the shop.
    pub fn base(&self) -> &Url {
        &self.base
    }

    /// Returns the URLs to which requests go: the base, and those of other ports or hosts.
    pub fn urls(&self) -> Vec<Url> {
        let mut urls = self.description.other_urls();
        urls.insert(0, self.base.clone());
        urls
    }

    /// Returns what the shop file does not let a verdict say.
    pub fn not_judged(&self) -> Option<&'static str> {
        let orders = || self.description.item.iter().map(|item| item.orders.as_ref());
        if orders().any(|orders| orders.is_none()) {
            return Some("no orders are read: lost, ghost and duplicate orders are not judged");
        }
        let is_counted = orders().flatten().any(|orders| orders.count.is_some());
        is_counted.then_some(
            "no order is tied to a buyer: an order of another buyer than the one that was told sold is not seen",
        )
    }

    /// Returns what stands in an order for the buyer with these values.
    pub(crate) fn tie(&self, values: &Values) -> String {
        let named = self.description.order_buyers().next();
        named.map_or_else(|| values["buyer"].clone(), |named| named.filled(values))
    }

    /// Returns an answer in one line, without secrets.
    pub(crate) fn shown(&self, answer: &Answer) -> String {
        let body: String = answer.body.split_whitespace().collect::<Vec<_>>().join(" ");
        let location = answer
            .location
            .as_ref()
            .map_or_else(String::new, |to| format!(", to {to}"));
        let shown = self.hidden(&format!("status {}{location}: {body}", answer.status));
        let plain = shown.chars().filter(|letter| !letter.is_control());
        plain.take(MAX_SHOWN).collect()
    }

    /// Returns a text without the values that came from the environment.
    pub(crate) fn hidden(&self, text: &str) -> String {
        self.hidden.in_text(text)
    }
}
