//! How an injection sends one purchase, and the responses to it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::Delivery;
use crate::shop::response::Response;

/// Options of one purchase.
#[derive(Clone, Debug, Default)]
pub struct SendOptions {
    /// The way in which it reaches the shop.
    pub delivery: Delivery,
    /// The value of its `X-Fault` header, if it carries a fault.
    pub fault: Option<Arc<str>>,
    /// Its business time between read and write, where this differs from the load's.
    pub work: Option<Duration>,
}

/// The responses to one purchase of an injection.
pub struct ResponsePair {
    /// The response to the purchase, or to the first of its copies.
    pub response: Response,
    /// The response to the second copy, if there was one.
    pub copy: Option<Response>,
}

/// An order of an injection to the buyer of a purchase.
pub(super) struct SendOrder {
    pub(super) options: SendOptions,
    pub(super) intended: Instant,
    pub(super) reply_to: oneshot::Sender<ResponsePair>,
}

impl SendOptions {
    /// Sends the purchase once, with this `X-Fault` header.
    pub fn with_fault(fault: &str) -> Self {
        Self {
            fault: Some(fault.into()),
            ..Self::default()
        }
    }
}
