//! Orders by which a finding can be looked up in the ledger.

use serde::{Deserialize, Serialize};

use super::Finding;
use crate::facts::Order;
use crate::shop::response::{MAX_ORDER_ID, Response};
use crate::text::one_line;

/// The most orders that are named for one round.
pub const MOST_EVIDENCE: usize = 8;

/// An order that is lost, a ghost or a duplicate.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Evidence {
    /// The finding that it belongs to.
    pub finding: Finding,
    /// Its id. The id of a lost order comes from the response, any other id from the ledger.
    pub order: Option<String>,
    /// The idempotency key it was made with.
    pub key: Option<String>,
    /// The buyer.
    pub buyer: Option<String>,
    /// Units.
    pub quantity: i64,
    /// For a duplicate, the id of the earlier order with the same key. A ledger may hold one id twice.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub bought_before: Option<String>,
}

impl Evidence {
    pub(super) fn lost(response: &Response) -> Self {
        Self {
            finding: Finding::Lost,
            order: response.order.as_deref().map(kept),
            key: Some(response.key.clone()),
            buyer: Some(response.buyer.clone()),
            quantity: response.quantity,
            bought_before: None,
        }
    }

    pub(super) fn ghost(order: &Order) -> Self {
        Self {
            finding: Finding::Ghost,
            order: Some(kept(&order.id)),
            key: order.key.as_deref().map(kept),
            buyer: order.buyer.as_deref().map(kept),
            quantity: order.quantity,
            bought_before: None,
        }
    }

    pub(super) fn duplicate(order: &Order, before: &str) -> Self {
        Self {
            finding: Finding::Duplicate,
            bought_before: Some(kept(before)),
            ..Self::ghost(order)
        }
    }
}

/// Returns text from outside on one line, no longer than an order id may be.
fn kept(text: &str) -> String {
    one_line(text, MAX_ORDER_ID)
}
