//! Promises told and orders recorded, matched one to one.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use super::evidence::{Evidence, MOST_EVIDENCE};
use crate::facts::{Facts, Order};
use crate::responses::Responses;
use crate::shop::response::{Response, ResponseKind};

/// What a 201 promised: an order of that id, key, buyer and quantity.
pub(super) struct Promise<'a> {
    response: &'a Response,
    /// When it was first told.
    pub(super) responses: Instant,
}

impl<'a> Promise<'a> {
    /// Every promise of a round. The same order told again to the same purchase is no other promise.
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
                Some(promise) => promise.responses = promise.responses.min(response.ended),
                None => promises.push(Self {
                    response,
                    responses: response.ended,
                }),
            }
        }
        promises
    }

    /// Units promised.
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

/// What comes of holding one look at the ledger against the promises.
#[derive(Default)]
pub(super) struct Matching {
    /// Places of the promises that no order stands for.
    pub(super) lost: Vec<usize>,
    /// Units of orders that nobody was told of.
    pub(super) ghost: i128,
    /// Units of orders beyond the first of their key.
    pub(super) duplicate: i128,
    /// Units of orders whose buyer never got an answer.
    pub(super) explained: i128,
    /// The first of each that are wrong.
    pub(super) evidence: Vec<Evidence>,
}

impl Matching {
    /// Matches the promises that were made before `begun`.
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
                (Some(order), Some(before)) => matching.finds_duplicate(order, before),
                (Some(order), None) => {
                    bought.insert(&promise.response.key, &order.id);
                }
                (None, _) if promise.responses <= begun => {
                    matching.lost.push(place);
                    matching.keep(|| Evidence::lost(promise.response));
                }
                (None, _) => {}
            }
        }
        // An order that matched nothing may still be that of a purchase whose answer never came, unless its buyer asked once
        // more and was told that nothing was sold.
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
        let unheard = responses
            .all()
            .chain(&responses.altered)
            .filter(|response| response.kind == ResponseKind::Unknown && !is_refused(response));
        let unheard: HashSet<(&str, &str, i64)> = unheard
            .map(|response| (response.key.as_str(), response.buyer.as_str(), response.quantity))
            .collect();
        let mut unmatched: Vec<&Order> = ledger.into_values().flatten().collect();
        unmatched.sort();
        for order in unmatched {
            let key = order.key.as_deref();
            if let Some(before) = key.and_then(|key| bought.get(key)) {
                matching.finds_duplicate(order, before);
                continue;
            }
            bought.extend(key.map(|key| (key, order.id.as_str())));
            let buyer = order.buyer.as_deref();
            if key
                .zip(buyer)
                .is_some_and(|(key, buyer)| unheard.contains(&(key, buyer, order.quantity)))
            {
                matching.explained += units(order);
            } else {
                matching.ghost += units(order);
                matching.keep(|| Evidence::ghost(order));
            }
        }
        matching
    }

    fn finds_duplicate(&mut self, order: &Order, before: &str) {
        self.duplicate += units(order);
        self.keep(|| Evidence::duplicate(order, before));
    }

    /// A shop may have done everything wrong.
    fn keep(&mut self, evidence: impl FnOnce() -> Evidence) {
        if self.evidence.len() < MOST_EVIDENCE {
            self.evidence.push(evidence());
        }
    }
}

/// An order of no units, or of fewer, is an order all the same, and must not make another one disappear from the sum.
fn units(order: &Order) -> i128 {
    i128::from(order.quantity).abs().max(1)
}
