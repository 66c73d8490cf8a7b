//! How an injection sends one purchase, and what the shop answered.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::Delivery;
use crate::shop::response::Response;

/// How one purchase is to be sent.
#[derive(Clone, Debug, Default)]
pub struct SendOptions {
    /// How it reaches the shop.
    pub delivery: Delivery,
    /// The value of its `X-Fault`, if it carries one.
    pub fault: Option<Arc<str>>,
    /// Its business time between read and write, where it is not that of all others.
    pub work: Option<Duration>,
}

/// What came of a purchase that a deed has sent.
pub struct ResponsePair {
    /// The answer to it, or to the first of its copies.
    pub response: Response,
    /// The answer to the second copy, if there was one.
    pub copy: Option<Response>,
}

/// What a deed gives to the buyer of a purchase.
pub(super) struct SendOrder {
    pub(super) options: SendOptions,
    pub(super) since: Instant,
    pub(super) heard: oneshot::Sender<ResponsePair>,
}

impl SendOptions {
    /// Once, with this `X-Fault`.
    pub fn with_fault(fault: &str) -> Self {
        Self {
            fault: Some(fault.into()),
            ..Self::default()
        }
    }
}
