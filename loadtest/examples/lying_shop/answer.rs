//! The answer to a purchase.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;

pub enum Answer {
    /// The units are sold, under this order id.
    Sold(String),
    SoldOut,
    Busy,
    /// The key was used for another quantity or another buyer.
    OtherPurchase,
    /// No sale of this item is open.
    NoSale,
    Status(StatusCode),
    /// No answer: the connection is closed.
    Cut,
    /// A response of a lie's own.
    Raw(Response),
}

impl Answer {
    pub fn fails() -> Self {
        Self::Status(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

/// Returns an answer with any body.
pub fn raw(status: StatusCode, body: impl Into<Body>) -> Answer {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert("Content-Type", json);
    Answer::Raw(response)
}
