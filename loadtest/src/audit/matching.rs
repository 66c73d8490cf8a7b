//! Matching of promised and recorded orders, one to one.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use super::evidence::{Evidence, MOST_EVIDENCE};
use crate::facts::{Facts, Order};
use crate::responses::Responses;
use crate::shop::response::{Response, ResponseKind};

/// The promise of a 201: an order with that id, key, buyer and quantity.
pub(super) struct Promise<'a> {
    response: &'a Response,
    /// When the first response with it came.
    pub(super) made_at: Instant,
}

impl<'a> Promise<'a> {
    /// Returns every promise of a round. A repeated response with the same key and order is the same promise.
    pub(super) fn all(responses: &'a Responses) -> Vec<Self> {
        let mut promises: Vec<Self> = Vec::new();
        let mut places: HashMap<(&str, Option<&str>), usize> = HashMap::new();
        let sold = responses
            .all()
            .chain(&responses.altered)
            .filter(|response| response.kind == ResponseKind::Sold);
        for response in sold {
            let place = *places
                .entry((&response.key, response.order.as_deref()))
                .or_insert(promises.len());
            match promises.get_mut(place) {
                Some(promise) => promise.made_at = promise.made_at.min(response.ended),
                None => promises.push(Self {
                    response,
                    made_at: response.ended,
                }),
            }
        }
        promises
    }

    pub(super) fn quantity(&self) -> i64 {
        self.response.quantity
    }

    fn is_backed_by(&self, order: &Order) -> bool {
        let Response {
            key, buyer, quantity, ..
        } = self.response;
        (order.key.as_ref(), order.buyer.as_ref(), order.quantity) == (Some(key), Some(buyer), *quantity)
    }
}

/// The result of matching the promises with one reading of the ledger.
#[derive(Default)]
pub(super) struct Matching {
    /// Places of the promises without an order.
    pub(super) lost: Vec<usize>,
    /// Units of orders that no buyer was told of.
    pub(super) ghost: i128,
    /// Units of further orders with the same key.
    pub(super) duplicate: i128,
    /// Units of orders whose buyer never got a response.
    pub(super) explained: i128,
    /// The first orders that are wrong.
    pub(super) evidence: Vec<Evidence>,
}

impl Matching {
    /// Matches the promises with the ledger. A promise that was made after `begun` cannot be lost yet.
    pub(super) fn new(promises: &[Promise<'_>], responses: &Responses, facts: &Facts, begun: Instant) -> Self {
        let mut matching = Self::default();
        let mut ledger: HashMap<&str, Vec<&Order>> = HashMap::new();
        for order in &facts.orders {
            ledger.entry(&order.id).or_default().push(order);
        }
        let mut bought: HashMap<&str, &str> = HashMap::new();
        for (place, promise) in promises.iter().enumerate() {
            let id = promise.response.order.as_deref().unwrap_or_default();
            let orders = ledger.get_mut(id).filter(|_| !id.is_empty());
            let backing = orders.and_then(|orders| {
                let at = orders.iter().position(|order| promise.is_backed_by(order))?;
                Some(orders.swap_remove(at))
            });
            match (backing, bought.get(promise.response.key.as_str())) {
                (Some(order), Some(before)) => matching.add_duplicate(order, before),
                (Some(order), None) => {
                    bought.insert(&promise.response.key, &order.id);
                }
                (None, _) if promise.made_at <= begun => {
                    matching.lost.push(place);
                    matching.keep(|| Evidence::lost(promise.response));
                }
                (None, _) => {}
            }
        }
        // An order without a promise may belong to a purchase without a response, unless the purchase was sent again
        // and told sold out.
        let mut refused: HashMap<&str, Instant> = HashMap::new();
        for response in responses
            .all()
            .filter(|response| response.kind == ResponseKind::SoldOut)
        {
            let last = refused.entry(&response.key).or_insert(response.sent);
            *last = response.sent.max(*last);
        }
        let is_refused = |unknown: &&Response| {
            let last = refused.get(unknown.key.as_str());
            last.is_some_and(|sent| *sent > unknown.ended)
        };
        let unanswered = responses
            .all()
            .chain(&responses.altered)
            .filter(|response| response.kind == ResponseKind::Unknown && !is_refused(response));
        let unanswered: HashSet<(&str, &str, i64)> = unanswered
            .map(|response| (response.key.as_str(), response.buyer.as_str(), response.quantity))
            .collect();
        let mut unmatched: Vec<&Order> = ledger.into_values().flatten().collect();
        unmatched.sort();
        for order in unmatched {
            let key = order.key.as_deref();
            if let Some(before) = key.and_then(|key| bought.get(key)) {
                matching.add_duplicate(order, before);
                continue;
            }
            bought.extend(key.map(|key| (key, order.id.as_str())));
            let buyer = order.buyer.as_deref();
            if key
                .zip(buyer)
                .is_some_and(|(key, buyer)| unanswered.contains(&(key, buyer, order.quantity)))
            {
                matching.explained += units(order);
            } else {
                matching.ghost += units(order);
                matching.keep(|| Evidence::ghost(order));
            }
        }
        matching
    }

    fn add_duplicate(&mut self, order: &Order, before: &str) {
        self.duplicate += units(order);
        self.keep(|| Evidence::duplicate(order, before));
    }

    /// Keeps at most [`MOST_EVIDENCE`] orders: a shop may have done everything wrong.
    fn keep(&mut self, evidence: impl FnOnce() -> Evidence) {
        if self.evidence.len() < MOST_EVIDENCE {
            self.evidence.push(evidence());
        }
    }
}

/// Returns the units of an order, at least 1: an order of 0 or fewer units must not hide another one in the sum.
fn units(order: &Order) -> i128 {
    i128::from(order.quantity).abs().max(1)
}
