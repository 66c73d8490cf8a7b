//! Responses to deliveries of a purchase.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use reqwest::StatusCode;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::http;
use crate::text::MAX_NAME;

/// The most bytes of a response that are read. The contract asks for fewer than 300.
pub(crate) const MAX_BODY: usize = 64 * 1024;

/// The longest order id that is accepted, in bytes.
pub const MAX_ORDER_ID: usize = 128;

/// The kind of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseKind {
    /// 201: the units are sold to the buyer.
    Sold,
    /// 409: fewer units are left than the buyer asked for.
    SoldOut,
    /// 503 with Retry-After: not now; nothing was sold.
    Busy,
    /// Any other 4xx: the shop does not accept the purchase.
    Rejected,
    /// Everything else, and no response at all: whether a sale took place is not known.
    Unknown,
}

impl ResponseKind {
    /// All kinds, in the order of a report.
    pub const ALL: [Self; 5] = [Self::Sold, Self::SoldOut, Self::Busy, Self::Rejected, Self::Unknown];

    /// Returns it in words, for a story: what the buyer was told.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Sold => "told sold",
            Self::SoldOut => "told sold out",
            Self::Busy => "told busy",
            Self::Rejected => "rejected",
            Self::Unknown => "got no answer",
        }
    }
}

/// One response to one delivery of a purchase, with its request.
#[derive(Clone, Debug)]
pub struct Response {
    /// The purchase's number in its round.
    pub number: usize,
    /// Its idempotency key.
    pub key: String,
    /// The buyer.
    pub buyer: String,
    /// Units that this delivery asked for.
    pub quantity: i64,
    /// The kind of the response.
    pub kind: ResponseKind,
    /// The order id of a sale.
    pub order: Option<String>,
    /// The instance that answered, if it gives its name.
    pub instance: Option<String>,
    /// When the purchase was meant to be sent.
    pub intended: Instant,
    /// When it was sent.
    pub sent: Instant,
    /// When the last byte of the response had come.
    pub ended: Instant,
    /// Whether the buyer closed the connection before the response came.
    pub hung_up: bool,
    /// Whether the purchase was sent a second time, because its first connection ended before a response.
    pub sent_again: bool,
}

impl Response {
    /// Returns the time from the intended start to the last byte.
    pub fn latency(&self) -> Duration {
        self.ended.duration_since(self.intended)
    }

    /// Returns whether both deliveries asked for the same: key, buyer and quantity.
    pub fn is_same_request(&self, other: &Self) -> bool {
        (&self.key, &self.buyer, self.quantity) == (&other.key, &other.buyer, other.quantity)
    }

    /// Returns how late the purchase was sent, against the schedule.
    pub fn lateness(&self) -> Duration {
        self.sent.duration_since(self.intended)
    }
}

/// The content of an HTTP response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The kind of the response.
    pub kind: ResponseKind,
    /// The order id of a sale.
    pub order: Option<String>,
    /// The instance that answered, if it gives its name.
    pub instance: Option<String>,
    /// The pause that a busy response asks for.
    pub retry_after: Option<Duration>,
}

impl Reply {
    /// The reply of a delivery without a response.
    pub const SILENCE: Self = Self {
        kind: ResponseKind::Unknown,
        order: None,
        instance: None,
        retry_after: None,
    };

    /// Reads a response to its last byte, or until it is longer than any honest one.
    pub async fn read(response: reqwest::Result<reqwest::Response>) -> Self {
        let Ok(response) = response else {
            return Self::SILENCE;
        };
        let (status, headers) = (response.status(), response.headers().clone());
        match http::body(response, MAX_BODY).await {
            Some(body) => Self::of(status, &headers, &body),
            None => Self::SILENCE,
        }
    }

    /// Reads the status, the headers and the whole body of a response.
    pub(crate) fn of(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let may_retry = headers.contains_key(RETRY_AFTER);
        // The header may also hold a date, which is ignored.
        let retry_after = headers
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok()?.parse().ok());
        let named = http::named(headers, &http::INSTANCE);
        let kind = match status {
            StatusCode::CREATED => ResponseKind::Sold,
            StatusCode::CONFLICT => ResponseKind::SoldOut,
            StatusCode::SERVICE_UNAVAILABLE if may_retry => ResponseKind::Busy,
            status if status.is_client_error() => ResponseKind::Rejected,
            _ => ResponseKind::Unknown,
        };
        let mut sold: HashMap<String, &RawValue> = match kind {
            ResponseKind::Sold => serde_json::from_slice(body).unwrap_or_default(),
            ResponseKind::SoldOut | ResponseKind::Busy | ResponseKind::Rejected | ResponseKind::Unknown => {
                HashMap::new()
            }
        };
        let order = sold.remove("order").and_then(order);
        let instance = || {
            let name = sold.remove("instance").and_then(text);
            name.filter(|name| (1..=MAX_NAME).contains(&name.len()))
        };
        Self {
            kind,
            order,
            instance: named.or_else(instance),
            retry_after: retry_after.map(Duration::from_secs),
        }
    }
}

/// Reads an order id: a text, or a whole number with all its digits.
fn order(id: &RawValue) -> Option<String> {
    let digits = id.get().strip_prefix('-').unwrap_or(id.get());
    let is_whole = digits.bytes().all(|byte| byte.is_ascii_digit());
    let id = if is_whole { Some(id.get().to_owned()) } else { text(id) };
    id.filter(|id| (1..=MAX_ORDER_ID).contains(&id.len()))
}

fn text(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}
